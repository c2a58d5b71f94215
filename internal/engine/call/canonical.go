package call

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// canonical returns the canonical form of JSON: compact, with names sorted and numbers as they
// were written. Texts that differ only in white space and in the order of names have the
// same form. Text that is not one JSON value comes back unchanged. So does JSON that
// readers may understand differently: an object that has a name twice, also in another
// case, and values nested deeper than 64 levels.
func canonical(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	if !unambiguous(d, 0) {
		return text
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return text
	}
	d = json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return text
	}
	canonical, err := json.Marshal(value)
	if err != nil {
		return text
	}
	return string(canonical)
}

// unambiguous reads one value and reports whether it is JSON in which no object
// has two names that some reader takes for the same one.
func unambiguous(d *json.Decoder, depth int) bool {
	token, err := d.Token()
	open, nested := token.(json.Delim)
	if err != nil || depth > maxNested || nested && open != '{' && open != '[' {
		return false
	}
	if !nested {
		return true
	}
	names := map[string]bool{}
	for d.More() {
		if open == '{' {
			token, err := d.Token()
			name, ok := token.(string)
			// To upper case first: some small letters share a capital.
			name = strings.ToLower(strings.ToUpper(name))
			if err != nil || !ok || names[name] {
				return false
			}
			names[name] = true
		}
		if !unambiguous(d, depth+1) {
			return false
		}
	}
	_, err = d.Token()
	return err == nil
}

// digestOf returns the SHA-256 of parts in lower-case hex. Each part is hashed with its
// length in front, so different lists never hash the same bytes.
func digestOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}
