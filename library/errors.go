package library

import (
	"errors"
	"fmt"
)

// The errors of a library. All others are those of the store or of the context.
var (
	ErrUnknown     = errors.New("unknown skill")                        // for the actor
	ErrConflict    = errors.New("the skill was changed meanwhile")      // since the expected version
	ErrNameTaken   = errors.New("the name is taken")                    // by another skill
	ErrRole        = errors.New("a role is missing")                    // the actor may not do that
	ErrInvalid     = errors.New("invalid edit")                         // or an invalid option
	ErrNotEditable = errors.New("the skill cannot be edited like this") // by anybody
	ErrTooLarge    = errors.New("too large")                            // for the Limits
	ErrSchema      = errors.New("library: the schema does not fit")     // of a store
	errAmbiguous   = errors.New("the name is that of several skills")
)

// Error is a refusal. Its text is for the model or the person who made the call. It wraps one
// of the errors of this package.
type Error struct {
	// Code is one of unknown, ambiguous, refused, conflict, invalid, no_match,
	// not_unique and too_large.
	Code    string
	Message string
	// Candidates are the skills of an ambiguous name, sorted by id.
	Candidates []Descriptor
	// VersionRef is the present version after a conflict. ChangedSince is the numbered
	// difference from the expected version to it.
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
