package processors

import (
	"fmt"
	"slices"

	"github.com/satchel-go/satchel/core"
)

// PrefixBreak describes a request that does not begin with the request before it. A provider's
// prompt cache can then serve only the part before Message.
type PrefixBreak struct {
	Cause Cause
	// Message is the index in the view of the first message that differs, and Role
	// is its role. Message is -1 if the tools differ, because they come before all
	// messages.
	Message int
	Role    core.Role
	// Tokens estimates, at four bytes a token, what is sent again although the earlier request
	// contained it. That is everything after the break that was also anywhere after it before:
	// the provider writes it to its cache a second time. Unchanged messages and tools count
	// whole. Of a changed message, the common beginning and end count. Removed and new text does
	// not count.
	Tokens int
}

// Block returns the first thing that differs: "tools", or for example "message 3 (tool)".
func (b PrefixBreak) Block() string {
	if b.Message < 0 {
		return "tools"
	}
	return fmt.Sprintf("message %d (%s)", b.Message, b.Role)
}

// String describes the break in one line.
func (b PrefixBreak) String() string {
	return fmt.Sprintf("prefix breaks at %s, cause %s: about %d tokens are sent again", b.Block(), b.Cause, b.Tokens)
}

// testingT is the part of testing.TB that FailTest needs.
type testingT interface {
	// Helper is the method of testing.TB.
	Helper()
	// Errorf is the method of testing.TB.
	Errorf(format string, args ...any)
}

// FailTest returns a function for satchel.WithPrefixGuard that fails the test at each break
// whose cause is not in allowed. If allowed is empty, it accepts "turn" and "unload": the
// default view promises that nothing else breaks the prefix.
func FailTest(t testingT, allowed ...Cause) func(PrefixBreak) {
	if allowed == nil {
		allowed = []Cause{"turn", "unload"}
	}
	return func(b PrefixBreak) {
		t.Helper()
		if !slices.Contains(allowed, b.Cause) {
			t.Errorf("%s", b)
		}
	}
}
