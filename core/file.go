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
	// Size is the size of the content in bytes if it is known without decoding, else 0.
	Size int
	// As is the name of the file in the workspace's work/inputs; the user's message in the view
	// mentions it. Preparing a request sets it.
	As string
	// Data returns the content, which the caller must not change. It may be called several times
	// and concurrently. Prepare calls it only if a turn begins to which the host adds a file of
	// the same name. It is nil if only the ID is known.
	Data func() ([]byte, error) `json:"-"`

	encoded string // the undecoded content of SetURL or SetBase64, or
	raw     []byte // the content of SetBytes
}

// SetBytes sets the content of the file. The caller must not change data later.
func (f *File) SetBytes(data []byte) {
	f.ID, f.encoded, f.raw = "", "", data
	f.Size, f.Data = len(data), func() ([]byte, error) { return data, nil }
}

// SameAs reports whether two files have the same name and the same content in the same
// encoding. It decodes nothing. It is false for content that no method of File has set.
func (f *File) SameAs(other *File) bool {
	return f.Name == other.Name && f.Size == other.Size && (f.encoded != "" || f.raw != nil) && f.encoded == other.encoded && bytes.Equal(f.raw, other.raw)
}

// errEncoding reports content of a [File] that cannot be decoded.
var errEncoding = errors.New("file content cannot be decoded")

// SetURL sets the file from a URL of a message. A data: URL (RFC 2397) contains the content, in
// base64 or percent-encoded. SetURL also sets MIME and Name if the URL has a media type and a
// parameter name or filename. It decodes nothing: Data does, and fails for a malformed URL. Any
// other URL becomes the ID of the file.
func (f *File) SetURL(address string) {
	f.ID, f.encoded, f.raw, f.Size, f.Data = "", "", nil, 0, nil
	if !isDataURL(address) {
		f.ID = address
		return
	}
	head, body, ok := strings.Cut(address[len(dataScheme):], ",")
	if !ok || len(head) > maxDataHead {
		f.Data = func() ([]byte, error) {
			return nil, fmt.Errorf("%w: data: URL without a comma in its first %d bytes", errEncoding, maxDataHead)
		}
		return
	}
	f.encoded = address
	first, parameters, _ := strings.Cut(head, ";")
	if strings.Contains(first, "/") {
		f.MIME = strings.TrimSpace(first)
	}
	isBase64 := false
	for p := range strings.SplitSeq(parameters, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		switch strings.ToLower(key) {
		case "base64":
			isBase64 = true
		case "name", "filename":
			f.Name = unescape(strings.Trim(value, `"`))
		}
	}
	f.Data, f.Size = func() ([]byte, error) { return decodePercent(body) }, len(body)-2*strings.Count(body, "%")
	if isBase64 {
		f.Size = decodedSize(body)
		f.Data = func() ([]byte, error) { return decodeBase64(body) }
	}
}

// SetBase64 sets the content from base64, in the standard or the URL alphabet, with or without
// padding and line breaks. It also accepts a data: URL, because some clients send one. It
// decodes nothing: Data does, and fails for any other text.
func (f *File) SetBase64(text string) {
	if isDataURL(text) {
		f.SetURL(text)
		return
	}
	f.ID, f.encoded, f.raw = "", text, nil
	f.Size, f.Data = decodedSize(text), func() ([]byte, error) { return decodeBase64(text) }
}

// decodedSize returns the size of the content of base64 text without line breaks.
func decodedSize(text string) int { return len(strings.TrimRight(text, "=\r\n \t")) * 3 / 4 }

const dataScheme = "data:"

func isDataURL(s string) bool {
	return len(s) >= len(dataScheme) && strings.EqualFold(s[:len(dataScheme)], dataScheme)
}

func unescape(s string) string {
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
		text = unescape(text)
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
