package session

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Digest returns the digest of text for [Store.Pin]: its SHA-256 in 64 lower-case hex digits.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// checkPin returns an error if digest is not that of text. Readers of the pin trust the digest.
func checkPin(digest, text string) error {
	if digest != Digest(text) {
		return fmt.Errorf("pin %q: digest is not the hex SHA-256 of the text", digest)
	}
	return nil
}

func notPinnedError(digest string) error {
	return fmt.Errorf("read pin %q: %w", digest, ErrNotPinned)
}
