package protocol

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"
)

// windowOf checks which part of a content is wanted. More than maxWindow is maxWindow.
func windowOf(offset, size *int64) (from, n int64, err error) {
	n = maxWindow
	if size != nil {
		n = min(*size, maxWindow)
	}
	if n < 1 {
		return 0, 0, badParam("max_bytes", "%d: want 1 to %d", n, maxWindow)
	}
	if offset != nil {
		from = *offset
	}
	if from < 0 {
		return 0, 0, badParam("offset", "%d: want 0 or more", from)
	}
	return from, n, nil
}

// window is a part of a content.
type window struct {
	content, encoding string
	from, end         int64
}

// cut returns a part of a content. Of a text the part has whole characters, at least one. Other
// bytes are returned as base64.
func cut(all []byte, offset, n int64) window {
	size := int64(len(all))
	from := min(offset, size)
	end := min(from+n, size)
	if !isText(all) {
		return window{base64.StdEncoding.EncodeToString(all[from:end]), "base64", from, end}
	}
	for from > 0 && from < size && !utf8.RuneStart(all[from]) {
		from--
	}
	end = max(end, from)
	for end > from && end < size && !utf8.RuneStart(all[end]) {
		end--
	}
	if end == from && from < size {
		_, width := utf8.DecodeRune(all[from:])
		end = from + int64(width)
	}
	return window{string(all[from:end]), "utf-8", from, end}
}

func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

// trimmed leaves out half a character at both ends, which a cut has left.
func trimmed(b []byte) (inner []byte, before int) {
	for before < min(len(b), utf8.UTFMax-1) && !utf8.RuneStart(b[before]) {
		before++
	}
	inner = b[before:]
	for i := 1; i <= min(len(inner), utf8.UTFMax); i++ {
		if last := len(inner) - i; utf8.RuneStart(inner[last]) {
			if !utf8.FullRune(inner[last:]) {
				inner = inner[:last]
			}
			break
		}
	}
	return inner, before
}
