package permission

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Request is what permission rules can see of a tool call.
type Request struct {
	Tool Tool
	// Takes says what patterns are compared with, and Text is that text.
	Takes Kind
	Text  string
	// NoPattern, if not empty, says why no pattern can match the call, as in
	// "it sets variables": only entries without a pattern allow it.
	NoPattern string

	// Idle reports that the call only tells the model what is wrong with its arguments.
	Idle bool

	// Skill is the skill that a run names: its list judges the run. It is "" for a tool that
	// names no skill. Unlisted reports that the caller has checked that this skill has no list.
	// Otherwise a run of a skill without a list is judged by all lists.
	Skill    string
	Unlisted bool

	// Lines, Input and Dir describe a Command. Lines are argument lists in place of Text; any
	// of them may name the program. Input reports that the command gets text to read. Dir is the
	// directory that it starts in, if that is not the one where relative paths of patterns
	// begin. Such a call is also judged as one of "cd".
	Lines [][]string
	Input bool
	Dir   string

	// Writes and Reads are the files that a run brings with it. Each of Writes is judged as a
	// call of Write with a path of the workspace, each of Reads as one of Read with a path of
	// the host. Stages are Writes to places that the call did not choose: only lists that name
	// Write judge them.
	Writes []string
	Stages []string
	Reads  []string

	// Offered are the tools that the agent has: a denial says which of them the
	// lists allow.
	Offered []Tool
}

// wrapperField is the one field of tools that take one text, in langchaingo.
const wrapperField = "__arg1"

// Request returns the request of a call with these arguments.
func (t Tool) Request(arguments string) Request {
	q := Request{Tool: t, Takes: t.Takes}
	if !t.Takes.hasText() {
		return q
	}
	text, err := t.subject(arguments)
	if err != nil {
		q.NoPattern = err.Error()
		return q
	}
	return t.RequestText(text)
}

// RequestText returns the request of a call that gets just this text, whatever
// the tool's Field is.
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

// subject finds the text that patterns are compared with. Where two readers of
// the same arguments could find different texts, there is none.
func (t Tool) subject(arguments string) (string, error) {
	fields, err := decode(arguments)
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

// Kind says what a pattern is compared with. Calls of the zero Kind are allowed by entries
// without a pattern only.
type Kind uint8

const (
	// Command is shell text that bash would run.
	Command Kind = iota + 1
	// Path is a path of the host.
	Path
	// Text is a word, such as the name of an agent; "domain:example.com" in a
	// pattern stands for a URL of that host or below it.
	Text
)

// hasText reports whether patterns are compared with a text of the call.
func (k Kind) hasText() bool { return k >= Command && k <= Text }

// Tool describes how allowed-tools rules match one of the agent's tools.
type Tool struct {
	// Name is the tool's name as the model calls it. Case does not matter.
	Name string
	// As are the names that lists use for it beside its own: Bash, Read …
	As []string
	// Always reports that lists and approvers do not apply to the tool. It is for control tools
	// of frameworks.
	Always bool
	// Takes says what a pattern is compared with. Field is the field of the JSON arguments that
	// holds it; "" means the whole text of the call, for tools that take one text. A tool that
	// takes a Command must pass it to bash or to a POSIX shell.
	Takes Kind
	Field string
	// Harmless are the other fields of a Command that may hold text and do not change what
	// is run, such as a description. Numbers and booleans may always be there. A call with
	// any other field is allowed by entries without a pattern only.
	Harmless []string
}
