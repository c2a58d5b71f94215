package core

// Scope says who provides a skill. Of two skills with one name, the one with the lower Scope
// owns the name.
type Scope uint8

// The scopes, the one with the highest rank first.
const (
	// ScopeHost are skills of places that the program names; the default.
	ScopeHost Scope = iota
	// ScopeProject are skills of the project in which the agent works.
	ScopeProject
	// ScopeUser are skills in the user's home directory.
	ScopeUser
	// ScopePlugin are skills of a plugin.
	ScopePlugin
	// ScopeBuiltin are skills that are part of the program.
	ScopeBuiltin
	// ScopeRemote are skills of servers. They own no plain name.
	ScopeRemote
)

var scopeNames = [...]string{"host", "project", "user", "plugin", "builtin", "remote"}

// String returns the word for the scope, which qualified names begin with.
func (s Scope) String() string {
	if int(s) < len(scopeNames) {
		return scopeNames[s]
	}
	return "unknown"
}
