package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

const (
	maxPlainName = 64 // of the Agent Skills specification
	maxStem      = 40
)

// skillDirName returns the name of a skill's directory below skills/. It is the name itself if
// the Agent Skills specification allows it: lower-case letters, digits and single hyphens
// between them. It is also the name itself for an id of a skills server: segments of these and
// "_", joined by dots. Otherwise it is the readable part of the name, "_" and a hash of the
// name. So no two names share a directory, not even where upper and lower case are the same.
func skillDirName(name string) string {
	if isPlainName(name) || isID(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return readable(name) + "_" + hex.EncodeToString(sum[:6])
}

// readable returns the letters and digits of a name, with a hyphen for whatever
// is between them.
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

const maxID = 128

// isID reports whether a name is an id that cannot be mistaken for a name with a
// hash.
func isID(name string) bool {
	if name == "" || len(name) > maxID || hashed.MatchString(name) {
		return false
	}
	for part := range strings.SplitSeq(name, ".") {
		if !idSegment.MatchString(part) || isDeviceName(part) {
			return false
		}
	}
	return true
}

var (
	idSegment = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?$`)
	hashed    = regexp.MustCompile(`_[0-9a-f]{12}$`)
)

func isPlainName(name string) bool {
	if name == "" || len(name) > maxPlainName || strings.Contains(name, "--") ||
		strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-") || isDeviceName(name) {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// isDeviceName reports whether a name, given in lower case, is a device in every
// directory of Windows.
func isDeviceName(name string) bool {
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && (strings.HasPrefix(name, "com") || strings.HasPrefix(name, "lpt")) &&
		name[3] >= '0' && name[3] <= '9'
}
