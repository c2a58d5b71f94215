package artifacts

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrName reports a name that no artifact can have.
var ErrName = errors.New("invalid artifact name")

const (
	// Latest is the Version of a [Ref] to the highest version of its name.
	Latest = -1

	scheme     = "artifact://"
	latestWord = "latest"
)

// Ref identifies a version of an artifact in a session.
type Ref struct {
	// Name is a slash-separated path such as "pref/out/report.txt".
	Name string `json:"name"`
	// Version counts from 0; [Latest], or any other negative number, means the
	// highest version.
	Version int `json:"version"`
}

// String returns the form that [ParseRef] parses: artifact://name@version, or artifact://name
// for the latest version. If the name itself ends like a version, the latest version is
// artifact://name@latest.
func (r Ref) String() string {
	if r.Version >= 0 {
		return scheme + r.Name + "@" + strconv.Itoa(r.Version)
	}
	if _, _, hasVersion := cutVersion(r.Name); hasVersion {
		return scheme + r.Name + "@" + latestWord
	}
	return scheme + r.Name
}

// ParseRef parses artifact://name, artifact://name@version or artifact://name@latest. Without a
// version it means [Latest]. It decodes nothing in the name. An "@" is part of the name unless
// decimal digits or "latest" follow it at the very end. The error wraps [ErrName] for a bad
// name.
func ParseRef(text string) (Ref, error) {
	rest, ok := strings.CutPrefix(text, scheme)
	if !ok {
		return Ref{}, fmt.Errorf("invalid artifact reference: %.80q: want artifact://name or artifact://name@version", text)
	}
	ref := Ref{Name: rest, Version: Latest}
	name, digits, hasVersion := cutVersion(rest)
	if hasVersion {
		ref.Name = name
	}
	if err := ref.Check(); err != nil {
		return Ref{}, fmt.Errorf("invalid artifact reference: %w", err)
	}
	if hasVersion && digits != latestWord {
		v, err := strconv.Atoi(digits)
		if err != nil {
			return Ref{}, fmt.Errorf("invalid artifact reference: version %.40q of %.80q is too high", digits, name)
		}
		ref.Version = v
	}
	return ref, nil
}

// cutVersion splits text at the "@" of a version.
func cutVersion(text string) (name, version string, found bool) {
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return text, "", false
	}
	name, version = text[:at], text[at+1:]
	isNumber := version != "" && strings.Trim(version, "0123456789") == ""
	return name, version, isNumber || version == latestWord
}

// Check returns an error that wraps [ErrName], and says why, if r.Name cannot be the name of an
// artifact. A name is a relative slash-separated path: at most 1024 bytes of valid UTF-8
// without control characters. No segment is empty, "." or "..". So a name is one line of text,
// and safe below any directory.
func (r Ref) Check() error {
	name, problem := r.Name, ""
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrName)
	case len(name) > maxName:
		problem = fmt.Sprintf("%d bytes, at most %d are allowed", len(name), maxName)
	case !utf8.ValidString(name):
		problem = "not valid UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		problem = "it has control characters"
	case name[0] == '/':
		problem = "it is absolute"
	default:
		problem = segmentProblem(name)
	}
	if problem != "" {
		return fmt.Errorf("%w: %.80q: %s", ErrName, name, problem)
	}
	return nil
}

// segmentProblem says what is wrong with a segment of a name, or returns "".
func segmentProblem(name string) string {
	for segment := range strings.SplitSeq(name, "/") {
		switch segment {
		case "":
			return "it has an empty segment"
		case ".", "..":
			return fmt.Sprintf("it has a segment %q", segment)
		}
	}
	return ""
}
