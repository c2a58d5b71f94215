package call

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// canonical returns JSON in a compact form with sorted names and unchanged numbers, so that texts
// with the same meaning are equal. It returns text unchanged if it is not one JSON value, or if
// readers may disagree about the value. They may if an object has a name twice, perhaps in
// another case. It also does so if values are nested deeper than 64 levels.
func canonical(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	if !isUnambiguous(d, 0) {
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

// isUnambiguous reads one value, and reports whether it is JSON in which no two names of an
// object are equal without case.
func isUnambiguous(d *json.Decoder, depth int) bool {
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
		if !isUnambiguous(d, depth+1) {
			return false
		}
	}
	_, err = d.Token()
	return err == nil
}
