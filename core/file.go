package core

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// File is a file that a user attached to a message. All of it comes from
// outside: a name may be any text, and a type need not be true.
type File struct {
	// ID names a file whose content is not in the request, such as a URL or an
	// artifact:// reference. It is never fetched or read as a path.
	ID string
	// Name is what the user calls the file, and MIME its media type; either may
	// be empty.
	Name string
	MIME string
	// Data returns the content, which the caller must not change. It may be
	// called more than once and at the same time, and is not called for a model
	// call. It is nil where only the ID is known.
	Data func() ([]byte, error)
}

// ErrEncoding reports content of a [File] that cannot be decoded.
var ErrEncoding = errors.New("file content cannot be decoded")

// FileAt returns the file that a URL of a message stands for. A data: URL (RFC
// 2397) holds content, base64 or percent-encoded, a media type and perhaps, in
// the parameter name or filename, a name; nothing is decoded before Data is
// called, which returns [ErrEncoding] for what is no such URL. Any other URL is
// the ID of the file.
func FileAt(address string) File {
	if !isDataURL(address) {
		return File{ID: address}
	}
	head, body, ok := strings.Cut(address[len(dataScheme):], ",")
	if !ok || len(head) > maxDataHead {
		return File{Data: func() ([]byte, error) {
			return nil, fmt.Errorf("%w: data: URL without a comma in its first %d bytes", ErrEncoding, maxDataHead)
		}}
	}
	var f File
	first, parameters, _ := strings.Cut(head, ";")
	if strings.Contains(first, "/") {
		f.MIME = strings.TrimSpace(first)
	}
	encoded := false
	for p := range strings.SplitSeq(parameters, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		switch strings.ToLower(key) {
		case "base64":
			encoded = true
		case "name", "filename":
			f.Name = unescaped(strings.Trim(value, `"`))
		}
	}
	f.Data = func() ([]byte, error) { return decodePercent(body) }
	if encoded {
		f.Data = func() ([]byte, error) { return decodeBase64(body) }
	}
	return f
}

// FileOf returns the file whose content is text in base64, of the standard or
// the URL alphabet, padded or not, with line breaks or none; or a data: URL,
// which some put in its place. Nothing is decoded before Data is called, which
// returns [ErrEncoding] for anything else.
func FileOf(text string) File {
	if isDataURL(text) {
		return FileAt(text)
	}
	return File{Data: func() ([]byte, error) { return decodeBase64(text) }}
}

const (
	dataScheme  = "data:"
	maxDataHead = 4096 // a type, a name of 255 escaped runes, and some room
)

func isDataURL(s string) bool {
	return len(s) >= len(dataScheme) && strings.EqualFold(s[:len(dataScheme)], dataScheme)
}

func unescaped(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

func decodePercent(text string) ([]byte, error) {
	plain, err := url.PathUnescape(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	return []byte(plain), nil
}

func decodeBase64(text string) ([]byte, error) {
	if strings.Contains(text, "%") { // of a data: URL
		text = unescaped(text)
	}
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(text, "-_") {
		encoding = base64.RawURLEncoding
	}
	data, err := encoding.DecodeString(strings.TrimRight(text, "=\r\n \t"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	return data, nil
}
