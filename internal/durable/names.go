package durable

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Name turns an id, which may be any string, into a file name.
func Name(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// IsName reports whether a file name is of the kind that Name returns.
func IsName(name string) bool {
	return len(name) == 2*sha256.Size && strings.Trim(name, "0123456789abcdef") == ""
}

// Fresh returns a name that nobody has used.
func Fresh(prefix string) string { return prefix + rand.Text() }
