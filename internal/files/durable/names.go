package durable

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Name turns an id, which may be any string, into a file name.
func Name(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// IsName reports whether a file name has the form that Name returns.
func IsName(name string) bool {
	return len(name) == 2*sha256.Size && strings.Trim(name, "0123456789abcdef") == ""
}

// versionDigits is the length of a number in a file name. It is enough for 64
// bits, and makes names sort like the numbers.
const versionDigits = 20

// VersionName turns a version, 0 or more, into a file name of 20 digits.
func VersionName(version int64) string { return fmt.Sprintf("%0*d", versionDigits, version) }

// ParseVersion parses the names that VersionName returns, and no others.
func ParseVersion(name string) (version int64, ok bool) {
	if len(name) != versionDigits || strings.Trim(name, "0123456789") != "" {
		return 0, false
	}
	version, err := strconv.ParseInt(name, 10, 64)
	return version, err == nil
}

// Fresh returns a name that has never been used.
func Fresh(prefix string) string { return prefix + rand.Text() }
