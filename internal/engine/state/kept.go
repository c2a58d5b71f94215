package state

import (
	"crypto/sha256"
	"fmt"

	"github.com/satchel-go/satchel/core"
)

// What a record keeps of a call, in bytes; a longer text is kept as its digest.
const (
	maxArguments = 2 << 10
	maxWord      = 256
)

// KeptCall returns a call as a record keeps it. A model may write megabytes into a call,
// and a record holds all calls of a response and is saved again with each change.
// Keeping a kept call changes nothing.
func KeptCall(call core.ToolCall) core.ToolCall {
	return core.ToolCall{ID: kept(call.ID, maxWord), Name: kept(call.Name, maxWord), Arguments: kept(call.Arguments, maxArguments)}
}

func kept(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return fmt.Sprintf("sha256:%x, %d bytes", sha256.Sum256([]byte(text)), len(text))
}

// same compares two texts, each of which may be in the form in which it is kept.
func same(a, b string, limit int) bool {
	return a == b || (len(a) > limit) != (len(b) > limit) && kept(a, limit) == kept(b, limit)
}
