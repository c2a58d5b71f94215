package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	maxPlainName = 64 // of the Agent Skills specification
	maxStem      = 40
)

// skillDirName returns the name of the directory below skills/ for a skill of
// any name: the name itself if it is one that the Agent Skills specification
// allows (lower-case letters, digits and single hyphens between them), else
// what can be read of it, "_" and a hash of the name. So no two names share a
// directory, also where upper and lower case are the same.
func skillDirName(name string) string {
	if isPlainName(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return readable(name) + "_" + hex.EncodeToString(sum[:6])
}

// readable returns the letters and digits of a name, with a hyphen for what is
// between them.
func readable(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	stem := strings.Join(words, "-")
	stem = strings.Trim(stem[:min(len(stem), maxStem)], "-")
	if stem == "" {
		return "skill"
	}
	return stem
}

func isPlainName(name string) bool {
	if name == "" || len(name) > maxPlainName || strings.Contains(name, "--") ||
		strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-") || isDeviceName(name) {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// isDeviceName reports the names that are devices in every directory of
// Windows, given in lower case.
func isDeviceName(name string) bool {
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && (strings.HasPrefix(name, "com") || strings.HasPrefix(name, "lpt")) &&
		name[3] >= '0' && name[3] <= '9'
}
