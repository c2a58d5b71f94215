package tools

import "errors"

// ErrDeclared reports that a runtime cannot make the loads of satchel.WithLoads.
var ErrDeclared = errors.New("declared loads cannot be made")

// Declared is a skill that the host loads before the model is called.
type Declared struct {
	Skill   string
	Docs    []string
	AllDocs bool
	// Mentioned reports that the user, not the host, has named the skill. Guessed reports
	// that neither has, and a search found it. The runtime sets both.
	Mentioned, Guessed bool
}
