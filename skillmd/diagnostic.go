package skillmd

import (
	"strconv"
	"strings"
)

// Severity says how much a diagnostic matters.
type Severity uint8

// The severities. [Parse] returns an error exactly if one of its diagnostics is an
// Error or the file has no front matter at all.
const (
	Info    Severity = iota // worth knowing, nothing is wrong
	Warning                 // something is wrong, but the skill can be used
	Error                   // the file is not a usable skill under the mode
)

// String returns "info", "warning" or "error".
func (s Severity) String() string {
	switch s {
	case Info:
		return "info"
	case Warning:
		return "warning"
	case Error:
		return "error"
	}
	return "severity(" + strconv.Itoa(int(s)) + ")"
}

// MarshalText returns what String returns; it never fails.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Diagnostic is one finding about a SKILL.md.
type Diagnostic struct {
	// File is the name given by [WithFile].
	File string `json:"file,omitempty"`
	// Line counts from 1 in the file; 0 is the file as a whole.
	Line     int      `json:"line,omitempty"`
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	// Message is one line for people. Its wording may change; Code does not.
	Message string `json:"message"`
}

// String returns "file:line: severity code: message" and leaves out the file
// or the line where it is not known.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(d.File)
		b.WriteByte(':')
	}
	if d.Line > 0 {
		b.WriteString(strconv.Itoa(d.Line))
		b.WriteByte(':')
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	b.WriteString(d.Severity.String() + " " + string(d.Code) + ": " + d.Message)
	return b.String()
}
