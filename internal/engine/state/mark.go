package state

import (
	"crypto/sha256"
	"encoding/hex"
)

// Mark recognises a user message: by a hash of its text, by how many user
// messages stand before it, and by the turn that it began.
type Mark struct {
	Hash    string `json:"hash,omitempty"` // see [MarkText]
	Ordinal int    `json:"ordinal,omitempty"`
	Turn    int    `json:"turn,omitempty"`
}

// MarkText returns the hash of a message's text that a [Mark] holds: the first 64
// bits of its SHA-256 in hex.
func MarkText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
