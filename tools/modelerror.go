package tools

import (
	"fmt"
)

// ModelError is an error that the model can act on. If an operation's Call returns an error that
// wraps it, the text becomes the answer. Any other error ends the run. The text says what to do
// next.
type ModelError string

// Error implements error.
func (e ModelError) Error() string { return string(e) }

// ModelErrorf formats a [ModelError].
func ModelErrorf(format string, args ...any) error { return ModelError(fmt.Sprintf(format, args...)) }
