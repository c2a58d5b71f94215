package session

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
)

// ErrDigest reports a Pin whose digest is not the hex SHA-256 of its text.
var ErrDigest = errors.New("digest is not the hex SHA-256 of the text")

// Digest returns the digest of text as [Store.Pin] wants it: its SHA-256 in 64
// lower-case hex digits.
// Decision 6 says why.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Pins returns the digests of what a record needs pinned in its session, some
// perhaps twice. Its listing is pinned for all sessions, see [PinListing].
func (r *Record) Pins() []string {
	pins := []string{r.Overview, r.Shelf.List}
	var was Beginning
	if r.Before != nil {
		was = *r.Before
	}
	for _, a := range slices.Concat(r.Active, was.Active.Gone) {
		pins = append(pins, a.Digest)
	}
	for _, d := range slices.Concat(r.Deliveries, r.shelved, was.Deliveries.Gone) {
		pins = append(pins, d.Digest, d.Listing)
		for _, doc := range d.Docs {
			pins = append(pins, doc.Digest)
		}
	}
	for _, c := range r.Compact {
		pins = append(pins, c.Digest)
	}
	for _, p := range slices.Concat(r.Pending, r.Ran) {
		pins = append(pins, p.Text)
	}
	for _, c := range r.Unknown {
		pins = append(pins, c.Text)
	}
	return slices.DeleteFunc(pins, func(digest string) bool { return digest == "" })
}

// checkPin refuses a wrong digest: whoever reads the pin later relies on the digest
// to name exactly this text.
func checkPin(digest, text string) error {
	if digest != Digest(text) {
		return fmt.Errorf("pin %q: %w", digest, ErrDigest)
	}
	return nil
}

func notPinned(digest string) error {
	return fmt.Errorf("read pin %q: %w", digest, ErrNotPinned)
}
