package core

// Scope says who provides a skill. Of two skills with one name, the one with the lower Scope
// owns the name.
type Scope uint8

// The scopes, the one with the highest rank first.
const (
	// ScopeHost are skills that the program names itself; the default.
	ScopeHost Scope = iota
	// ScopeProject are skills of the project that is worked in.
	ScopeProject
	// ScopeUser are skills in the user's home.
	ScopeUser
	// ScopePlugin are skills of a plugin.
	ScopePlugin
	// ScopeBuiltin are skills that the program carries.
	ScopeBuiltin
	// ScopeRemote are skills of servers. They own no plain name.
	ScopeRemote
)

var scopeWords = [...]string{"host", "project", "user", "plugin", "builtin", "remote"}

// String returns the word with which qualified names of the scope begin.
func (s Scope) String() string {
	if int(s) < len(scopeWords) {
		return scopeWords[s]
	}
	return "unknown"
}
