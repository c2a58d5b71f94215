package skillneeds

import (
	"strings"
	"unicode"

	"github.com/satchel-go/satchel/internal/text/printable"
)

// isProgram reports whether a name can be looked for on a PATH.
func isProgram(name string) bool {
	return isName(name) && !strings.ContainsAny(name, `/\`) && name != "." && name != ".."
}

// isVariable reports whether name is a name of an environment variable.
func isVariable(name string) bool {
	for i, r := range name {
		switch {
		case r == '_', 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', i > 0 && '0' <= r && r <= '9':
		default:
			return false
		}
	}
	return name != "" && len(name) <= maxName
}

// isName reports whether a name is one printable word.
func isName(name string) bool {
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '\uFFFD'
	}) && !printable.HasInvisible(name)
}

// isLine reports whether a name is one printable line, as names of tools and settings are.
func isLine(name string) bool {
	return isName(strings.ReplaceAll(name, " ", "_"))
}

// isSecret reports whether name may be a name of metadata.secrets. It may begin with a digit,
// because earlier releases allowed that.
func isSecret(name string) bool { return isVariable("_"+name) && name != "" }

// systems maps the names of systems to those of Go.
var systems = map[string]string{
	"darwin": "darwin", "macos": "darwin", "mac": "darwin", "linux": "linux", "win32": "windows", "windows": "windows",
}

func isSystem(name string) bool { return systems[strings.ToLower(name)] != "" }
