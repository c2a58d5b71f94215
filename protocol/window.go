package protocol

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"
)

// windowOf checks offset and max_bytes of a call. It returns the part to read, of at most
// maxWindow bytes.
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

// window is a part of a file or blob.
type window struct {
	content, encoding string
	from, end         int64 // in the file or blob
}

// cut returns the n bytes at offset. If all is text, the part has only whole characters, and at
// least one. Other content is returned as base64.
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

// trimStart removes the end of a character that begins before b. It returns how many bytes it
// removed.
func trimStart(b []byte) (inner []byte, removed int) {
	for removed < min(len(b), utf8.UTFMax-1) && !utf8.RuneStart(b[removed]) {
		removed++
	}
	return b[removed:], removed
}

// trimEnd removes the beginning of a character that ends after b.
func trimEnd(b []byte) []byte {
	for i := 1; i <= min(len(b), utf8.UTFMax); i++ {
		if last := len(b) - i; utf8.RuneStart(b[last]) {
			if !utf8.FullRune(b[last:]) {
				return b[:last]
			}
			break
		}
	}
	return b
}
