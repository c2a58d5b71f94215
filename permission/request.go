package permission

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Request describes a tool call to the rules of allowed-tools lists.
type Request struct {
	Tool Tool
	// Takes says what kind of text patterns are compared with, and Text is that text.
	Takes Kind
	Text  string
	// NoPattern, if not empty, says why no pattern can match the call, for example "it sets
	// variables". Only entries without a pattern then allow it.
	NoPattern string

	// Idle reports a call that runs nothing: it only tells the model what is wrong with its
	// arguments.
	Idle bool

	// Skill is the skill that a run names; the list of that skill decides about the run. It is ""
	// for a tool that names no skill. Unlisted reports that this skill is known to have no list.
	// If a skill without a list is not reported so, all lists decide about its run.
	Skill    string
	Unlisted bool

	// Lines, Input and Dir describe a Command. Lines are argument lists in place of Text; any
	// word of them may name the program. Input reports that the command reads text from standard
	// input. Dir is the directory in which it starts, if that is not the one that relative paths
	// of patterns refer to. The lists must then also allow "cd" to it.
	Lines [][]string
	Input bool
	Dir   string

	// Writes and Reads are files that a run needs. For each of Writes, with a path in the
	// workspace, the lists must also allow a call of Write. For each of Reads, with a path of the
	// host, they must also allow a call of Read. Stages are writes to places that the call did
	// not choose: only lists that name Write decide about them.
	Writes []string
	Stages []string
	Reads  []string

	// Offered are the tools that the agent has. A denial names those of them that the lists
	// allow.
	Offered []Tool
}

// wrapperField is the only field in the arguments of a tool that takes one text, in
// langchaingo.
const wrapperField = "__arg1"

// Request returns the request for a call of the tool with these arguments.
func (t Tool) Request(arguments string) Request {
	q := Request{Tool: t, Takes: t.Takes}
	if !t.Takes.hasText() {
		return q
	}
	text, err := t.matchedText(arguments)
	if err != nil {
		q.NoPattern = err.Error()
		return q
	}
	return t.RequestText(text)
}

// RequestText returns the request for a call whose input is exactly this text, regardless of
// the tool's Field.
func (t Tool) RequestText(text string) Request {
	q := Request{Tool: t, Takes: t.Takes, Text: text}
	switch {
	case !t.Takes.hasText():
	case !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError):
		q.NoPattern = "it holds invalid UTF-8"
	case t.Takes != Command && len(text) > maxText:
		q.NoPattern = "its text is too long"
	}
	return q
}

// matchedText returns the text that patterns are compared with. It returns an error if two
// decoders of the same arguments could find different texts.
func (t Tool) matchedText(arguments string) (string, error) {
	fields, err := decodeFields(arguments)
	if t.Field == "" {
		switch {
		case err != nil:
			return arguments, nil
		case len(fields) == 1 && fields[0].name == wrapperField && fields[0].isText:
			return fields[0].text, nil
		}
		return "", errors.New("it is no plain text")
	}
	if err != nil {
		return "", errors.New("it has arguments that are no JSON object with each field once")
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

// errFields reports arguments that decodeFields refuses.
var errFields = errors.New("no JSON object with each field once")

// decodeFields returns the fields of a JSON object, none of which may occur twice.
func decodeFields(arguments string) ([]field, error) {
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

// Kind says what kind of text patterns are compared with. Only entries without a pattern allow
// calls of a tool with the zero Kind.
type Kind uint8

const (
	// Command is shell text, which the tool passes to a shell.
	Command Kind = iota + 1
	// Path is a path of the host.
	Path
	// Text is a word, such as the name of an agent. In a pattern, "domain:example.com" matches
	// URLs of that host and its subdomains.
	Text
)

// hasText reports whether patterns are compared with a text of the call.
func (k Kind) hasText() bool { return k >= Command && k <= Text }

// Tool describes how allowed-tools rules match one of the agent's tools.
type Tool struct {
	// Name is the name by which the model calls the tool. Case does not matter.
	Name string
	// As are other names for the tool in lists, such as Bash or Read.
	As []string
	// Always reports that lists and approvers do not apply to the tool. It is meant for control
	// tools of frameworks.
	Always bool
	// Takes says what kind of text patterns are compared with. Field is the field of the JSON
	// arguments with that text; "" means that the whole input of the call is the text. A tool
	// that takes a Command must pass it to bash or to a POSIX shell.
	Takes Kind
	Field string
	// Harmless are other fields of a Command that may contain text, because they do not change
	// what runs, such as a description. Numbers and booleans are always accepted. Only entries
	// without a pattern allow a call with any other field.
	Harmless []string
}
