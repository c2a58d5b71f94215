package core

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// File is a file that a user attached to a message. All of it is untrusted: the
// name may be any text, and the type may be wrong.
type File struct {
	// ID names a file whose content is not in the request, such as a URL or an
	// artifact:// reference. It is never fetched or read as a path.
	ID string
	// Name is what the user calls the file, and MIME its media type; either may
	// be empty.
	Name string
	MIME string
	// Origin is the [Message.Origin] of the message that brought the file.
	Origin int
	// Size is the size of the content in bytes, if its encoding tells it; 0 if it is not
	// known.
	Size int
	// As is the file name in the workspace's work/inputs that the user's message mentions.
	// Preparing a request sets it.
	As string
	// Data returns the content, which the caller must not change. It may be called
	// several times and concurrently. Preparing a model call calls it only where a turn
	// begins and the host adds a file of its name. It is nil if only the ID is known.
	Data func() ([]byte, error)

	encoded string // the content as it came, or
	raw     []byte
}

// FileBytes returns the file with this content, which must not be changed.
func FileBytes(data []byte) File {
	return File{Size: len(data), raw: data, Data: func() ([]byte, error) { return data, nil }}
}

// SameAs reports whether two files came with the same name and the same content, in
// the same encoding. It decodes nothing, and of files made in another way than by this
// package it knows nothing.
func (f *File) SameAs(other *File) bool {
	return f.Name == other.Name && f.Size == other.Size && (f.encoded != "" || f.raw != nil) && f.encoded == other.encoded && bytes.Equal(f.raw, other.raw)
}

// errEncoding reports content of a [File] that cannot be decoded.
var errEncoding = errors.New("file content cannot be decoded")

// FileAt returns the file that a URL of a message stands for. A data: URL (RFC
// 2397) holds the content, base64 or percent-encoded, a media type and perhaps a
// name in the parameter name or filename. Nothing is decoded before Data is called,
// which returns [errEncoding] for a malformed URL. Any other URL becomes the ID of
// the file.
func FileAt(address string) File {
	if !isDataURL(address) {
		return File{ID: address}
	}
	head, body, ok := strings.Cut(address[len(dataScheme):], ",")
	if !ok || len(head) > maxDataHead {
		return File{Data: func() ([]byte, error) {
			return nil, fmt.Errorf("%w: data: URL without a comma in its first %d bytes", errEncoding, maxDataHead)
		}}
	}
	f := File{encoded: address}
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
	f.Data, f.Size = func() ([]byte, error) { return decodePercent(body) }, len(body)-2*strings.Count(body, "%")
	if encoded {
		f.Size = decodedSize(body)
		f.Data = func() ([]byte, error) { return decodeBase64(body) }
	}
	return f
}

// FileOf returns the file whose content is text in base64. The alphabet may be the
// standard or the URL one, with or without padding and line breaks; a data: URL is
// accepted too, because some clients send one. Nothing is decoded before Data is
// called, which returns [errEncoding] for anything else.
func FileOf(text string) File {
	if isDataURL(text) {
		return FileAt(text)
	}
	return File{encoded: text, Size: decodedSize(text), Data: func() ([]byte, error) { return decodeBase64(text) }}
}

// decodedSize is the size of what base64 text without line breaks stands for.
func decodedSize(text string) int { return len(strings.TrimRight(text, "=\r\n \t")) * 3 / 4 }

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
		return nil, fmt.Errorf("%w: %w", errEncoding, err)
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
		return nil, fmt.Errorf("%w: %w", errEncoding, err)
	}
	return data, nil
}
