// Package plainjson writes JSON without the escapes for HTML. It also computes the length of a
// text in JSON, where one byte can take six.
package plainjson

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"
)

// Encode is [json.Marshal], but does not escape <, > and &.
func Encode(v any) (string, error) {
	var b strings.Builder
	if err := encode(&b, v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// Append appends the JSON that [Encode] returns to b.
func Append(b []byte, v any) ([]byte, error) {
	buffer := bytes.NewBuffer(b)
	if err := encode(buffer, v); err != nil {
		return b, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Size returns the length of a text in JSON, without its quotes, in bytes.
func Size(text string) int {
	n := 0
	for i := 0; i < len(text); {
		size, encoded := next(text[i:])
		n += encoded
		i += size
	}
	return n
}

// Prefix returns the longest beginning of a text that takes at most n bytes in
// JSON. It does not cut a character.
func Prefix(text string, n int) string {
	for i := 0; i < len(text); {
		size, encoded := next(text[i:])
		if n -= encoded; n < 0 {
			return text[:i]
		}
		i += size
	}
	return text
}

// Suffix returns the longest end of a text that takes at most n bytes in JSON. It does not cut a
// character.
func Suffix(text string, n int) string {
	for i := len(text); i > 0; {
		_, size := utf8.DecodeLastRuneInString(text[:i])
		_, encoded := next(text[i-size : i])
		if n -= encoded; n < 0 {
			return text[i:]
		}
		i -= size
	}
	return text
}

// next returns the length of the first character of a text, in the text and in JSON.
func next(text string) (size, encoded int) {
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == '\f':
		return size, 2
	case r < ' ' || r == '\u2028' || r == '\u2029' || r == utf8.RuneError && size == 1:
		return size, 6
	}
	return size, size
}
