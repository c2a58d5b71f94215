package library

import (
	"errors"
	"fmt"
)

// The errors of a library. All other errors are those of the store or of the context.
var (
	ErrUnknown     = errors.New("unknown skill")                        // the actor sees no such skill, version or file
	ErrConflict    = errors.New("the skill was changed meanwhile")      // another edit came after the expected version
	ErrNameTaken   = errors.New("the name is taken")                    // another skill has it
	ErrRole        = errors.New("a role is missing")                    // the actor may not do that
	ErrInvalid     = errors.New("invalid edit")                         // the edit or an option is invalid
	ErrNotEditable = errors.New("the skill cannot be edited like this") // no actor may make the edit
	ErrTooLarge    = errors.New("too large")                            // a file or the skill exceeds the Limits
	ErrSchema      = errors.New("library: the schema does not fit")     // the database has another schema
	errAmbiguous   = errors.New("the name is that of several skills")
)

// Error is a refusal. Its text is for the model or the person who made the call. Callers
// distinguish refusals by errors.Is with the errors of this package.
type Error struct {
	Message string
	// Candidates are the skills of an ambiguous name, sorted by id. Other errors have none.
	Candidates []Descriptor
	// VersionRef is the current version after a conflict. ChangedSince is the numbered
	// difference from the expected version to the current one.
	VersionRef, ChangedSince string

	kind error
	// code is the kind in the audit and in answers of tools: unknown, ambiguous, refused,
	// conflict, invalid, no_match, not_unique, too_large or unavailable.
	code string
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.kind }

func refuse(code string, kind error, format string, args ...any) *Error {
	return &Error{code: code, Message: fmt.Sprintf(format, args...), kind: kind}
}

func refused(format string, args ...any) *Error {
	return refuse("refused", ErrNotEditable, format, args...)
}

func invalid(format string, args ...any) *Error {
	return refuse("invalid", ErrInvalid, format, args...)
}
