package plainfile

import "strings"

// Beginnings of the names that Satchel gives, for a moment only, to what is not
// in its place yet and to what is about to be removed. A process that is killed
// leaves them behind. What looks for files passes over them.
const (
	NewPrefix = ".satchel-new-"
	OldPrefix = ".satchel-old-"
)

// IsTemporary reports a name with one of these beginnings.
func IsTemporary(name string) bool {
	return strings.HasPrefix(name, NewPrefix) || strings.HasPrefix(name, OldPrefix)
}
