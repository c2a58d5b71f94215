// Package artifacts keeps the files that an agent produced: each save of a name
// in a session is a new version, and a version never changes. [Memory] and
// [Directory] are the stores of this package; artifactstest checks any other.
package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// ErrNotFound reports a session, name or version that is not stored.
	ErrNotFound = errors.New("artifact is not stored")
	// ErrTooLarge reports content beyond the limit of a Save. Nothing of it
	// was stored.
	ErrTooLarge = errors.New("artifact is too large")
	// ErrEnded reports a Save whose session ended meanwhile. Nothing of it is
	// stored.
	ErrEnded = errors.New("session ended during the save")
	// ErrDamaged reports stored content that is there but not as it was saved.
	ErrDamaged = errors.New("stored artifact is damaged")
	// ErrMIME reports a MIME type that is too long or not one line of text.
	ErrMIME = errors.New("invalid MIME type")
)

// DefaultMIME is the type of an artifact that was saved without one.
const DefaultMIME = "application/octet-stream"

// maxMIME is the greatest length of a MIME type in bytes: two names of 127
// (RFC 6838, section 4.2) and what parameters usually take.
const maxMIME = 512

// Info describes one version of an artifact. Its String is that of the Ref.
type Info struct {
	// Ref names it; the Version is never [Latest].
	Ref
	// MIME is the type as given to Save, or [DefaultMIME].
	MIME string
	// Size is the length of the content in bytes.
	Size int64
	// Digest is the SHA-256 of the content, 64 lower-case hex digits.
	Digest string
}

// Store keeps versioned artifacts by session. Implementations are safe for
// concurrent use by any number of goroutines and pass artifactstest.Run.
//
// A session is any string. Names are checked with [CheckName]; a bad one fails
// with [ErrName].
type Store interface {
	// Save reads content to its end and stores it as the next version of the
	// name. Versions of a name count 0, 1, 2 … without a gap, also when many
	// save at once. A version appears whole or not at all: after an error from
	// content or the end of ctx, and with ErrTooLarge for content of more than
	// limit bytes, nothing is stored and no version is used up. A limit of 0
	// admits empty content; a negative one is an error. Save holds no more
	// of the content in memory than the store keeps there.
	//
	// When the session ends during a Save, the Save fails with ErrEnded.
	Save(ctx context.Context, session, name, mime string, content io.Reader, limit int64) (Info, error)

	// Open returns the content of a version, the highest one for [Latest], and
	// its description. What is not stored is ErrNotFound. Reading to the end
	// fails with ErrDamaged if the content is not what was saved. The caller
	// closes the reader; it need not stay readable when the session ends.
	Open(ctx context.Context, session string, ref Ref) (io.ReadCloser, Info, error)

	// List returns all versions of all names of the session, sorted by name
	// and then by version. A session with nothing stored has none.
	List(ctx context.Context, session string) ([]Info, error)

	// End removes all artifacts of the session; its names start again at
	// version 0. Ending an unknown session is not an error.
	End(ctx context.Context, session string) error
}

// newInfo checks what a Save was given and starts its description.
func newInfo(name, mime string, content io.Reader, limit int64) (Info, error) {
	if err := CheckName(name); err != nil {
		return Info{}, err
	}
	if mime == "" {
		mime = DefaultMIME
	}
	if err := checkMIME(mime); err != nil {
		return Info{}, err
	}
	if content == nil {
		return Info{}, errors.New("content is nil")
	}
	if limit < 0 {
		return Info{}, fmt.Errorf("limit of %d bytes is negative", limit)
	}
	return Info{Ref: Ref{Name: name}, MIME: mime}, nil
}

func checkMIME(mime string) error {
	if len(mime) > maxMIME {
		return fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrMIME, len(mime), maxMIME)
	}
	if !utf8.ValidString(mime) || strings.ContainsFunc(mime, unicode.IsControl) {
		return fmt.Errorf("%w: %q", ErrMIME, mime)
	}
	return nil
}
