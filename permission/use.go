package permission

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Use is one call, as far as the entries of lists can tell calls apart.
type Use struct {
	Tool Tool
	// Takes and Text are what a pattern is compared with. Plain, if it is not
	// empty, says why no pattern is for this call: it begins with "it".
	Takes Kind
	Text  string
	Plain string

	// Idle: nothing is done by this call but to tell what is wrong about its
	// arguments.
	Idle bool

	// Of a Command: Lines are argument lists, any of which names what is run, in
	// place of Text. Input: the command gets text to read. Skill is the skill in
	// whose folder it runs, and Elsewhere says that it starts in another one; ""
	// is a tool that knows no skills.
	Lines     [][]string
	Input     bool
	Skill     string
	Elsewhere bool
}

// maxText bounds a path or a word that is compared with patterns, in bytes.
const maxText = 4096

// wrapper is the one field of tools that take one text, in langchaingo.
const wrapper = "__arg1"

// Use returns the call of a tool with these arguments.
func (t Tool) Use(arguments string) Use {
	u := Use{Tool: t, Takes: t.Takes}
	if t.Takes == Opaque || t.Takes == Inert {
		return u
	}
	text, err := t.subject(arguments)
	if err != nil {
		u.Plain = err.Error()
		return u
	}
	return t.UseText(text)
}

// UseText returns the call of a tool that is given just this text, whatever its
// Field is.
func (t Tool) UseText(text string) Use {
	u := Use{Tool: t, Takes: t.Takes, Text: text}
	switch {
	case t.Takes == Opaque || t.Takes == Inert:
	case !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError):
		u.Plain = "it holds invalid UTF-8"
	case t.Takes != Command && len(text) > maxText:
		u.Plain = "its text is too long"
	}
	return u
}

// subject finds the text that patterns are compared with. Where two readers of
// the same arguments could find different texts, there is none.
func (t Tool) subject(arguments string) (string, error) {
	fields, err := decode(arguments)
	if t.Field == "" {
		switch {
		case err != nil:
			return arguments, nil
		case len(fields) == 1 && fields[0].name == wrapper && fields[0].isText:
			return fields[0].text, nil
		}
		return "", errors.New("it is no plain text")
	}
	if err != nil {
		return "", fmt.Errorf("it has arguments that are no JSON object with each field once")
	}
	text := ""
	if !slices.ContainsFunc(fields, func(f field) bool { return strings.EqualFold(f.name, t.Field) }) {
		return "", fmt.Errorf("it has no text in the field %q", t.Field)
	}
	for _, f := range fields {
		switch {
		case f.name == t.Field && f.isText:
			text = f.text
		case strings.EqualFold(f.name, t.Field):
			return "", fmt.Errorf("it has an odd field %q", f.name)
		case t.Takes == Command && !f.isPlain && !slices.Contains(t.Harmless, f.name):
			return "", fmt.Errorf("it sets %q", f.name)
		}
	}
	return text, nil
}

// field is one field of the arguments of a call.
type field struct {
	name    string
	text    string
	isText  bool
	isPlain bool // a number, a boolean or null
}

var errFields = errors.New("no JSON object with each field once")

// decode lists the fields of a JSON object, none of which may occur twice.
func decode(arguments string) ([]field, error) {
	d := json.NewDecoder(strings.NewReader(arguments))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, errFields
	}
	var fields []field
	for d.More() {
		key, err := d.Token()
		name, ok := key.(string)
		if err != nil || !ok || slices.ContainsFunc(fields, func(f field) bool { return strings.EqualFold(f.name, name) }) {
			return nil, errFields
		}
		var value any
		if err := d.Decode(&value); err != nil || len(fields) == maxFields {
			return nil, errFields
		}
		f := field{name: name}
		switch v := value.(type) {
		case string:
			f.text, f.isText = v, true
		case nil, bool, float64:
			f.isPlain = true
		}
		fields = append(fields, f)
	}
	if end, err := d.Token(); err != nil || end != json.Delim('}') {
		return nil, errFields
	}
	if _, err := d.Token(); err == nil {
		return nil, errFields
	}
	return fields, nil
}

// maxFields bounds the fields of a call that are looked at.
const maxFields = 64
