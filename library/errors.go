package library

import (
	"errors"
	"fmt"
)

// What can go wrong. Errors of this package wrap one of these, or are those of the
// store or the context.
var (
	ErrUnknown     = errors.New("unknown skill")
	ErrConflict    = errors.New("the skill was changed meanwhile")
	ErrNameTaken   = errors.New("the name is taken")
	ErrRole        = errors.New("a role is missing")
	ErrInvalid     = errors.New("invalid edit")
	ErrNotEditable = errors.New("the skill cannot be edited like this")
	ErrTooLarge    = errors.New("too large")
	ErrSchema      = errors.New("library: the schema does not fit")
	errAmbiguous   = errors.New("the name is that of several skills")
)

// Error is a refusal. Its text is for the model or the person who asked.
type Error struct {
	// Code is one of unknown, ambiguous, refused, conflict, invalid, no_match,
	// not_unique and too_large.
	Code    string
	Message string
	// Candidates are the skills of an ambiguous name, sorted by id.
	Candidates []Descriptor
	// VersionRef is the head of a conflict, and ChangedSince the numbered difference
	// that has brought it about.
	VersionRef, ChangedSince string

	kind error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.kind }

func refuse(code string, kind error, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), kind: kind}
}

func refused(format string, args ...any) *Error {
	return refuse("refused", ErrNotEditable, format, args...)
}

func invalid(format string, args ...any) *Error {
	return refuse("invalid", ErrInvalid, format, args...)
}
