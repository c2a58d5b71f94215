package tools

import "errors"

// ErrLoads reports that a runtime cannot make the loads of satchel.WithLoads.
var ErrLoads = errors.New("declared loads cannot be made")

// Load is a skill that the host loads before the model is called.
type Load struct {
	Skill   string
	Docs    []string // such as "forms.md", or "forms.md#Fill in" for a section
	AllDocs bool
	// Arguments replace the placeholders in the body, such as "$ARGUMENTS", or follow the body. They
	// have at most 4 KiB, and no control characters or line ends.
	Arguments string
	// Mentioned reports that the user, not the host, has named the skill. Guessed reports that a
	// search found it. The runtime sets both.
	Mentioned, Guessed bool
}
