package tools

import (
	"fmt"
)

// ModelError is an error that the model can act on. An operation's Call returns
// it, or an error that wraps it, and [Operation.Answer] turns it into the answer;
// any other error ends the run. Its text says what to do next.
type ModelError string

// Error implements error.
func (e ModelError) Error() string { return string(e) }

// ModelErrorf formats a [ModelError].
func ModelErrorf(format string, args ...any) error { return ModelError(fmt.Sprintf(format, args...)) }
