package core

// Scope says whose skill it is. Of two skills with one name, that of the lower scope
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

// String returns the word for the scope, with which qualified names begin.
func (s Scope) String() string {
	if int(s) < len(scopeWords) {
		return scopeWords[s]
	}
	return "unknown"
}

// ParseScope returns the scope of a word; false for a word that stands for none.
func ParseScope(word string) (Scope, bool) {
	for i, w := range scopeWords {
		if w == word {
			return Scope(i), true
		}
	}
	return 0, false
}
