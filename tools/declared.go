package tools

import "errors"

// ErrDeclared reports that loads which a host has declared cannot be made.
var ErrDeclared = errors.New("declared loads cannot be made")

// Declared is a skill that the host loads before the model is called.
type Declared struct {
	Skill   string
	Docs    []string
	AllDocs bool
	// Mentioned says that the user, not the host, has named the skill; Guessed that
	// neither has, and a search found it.
	Mentioned, Guessed bool
}
