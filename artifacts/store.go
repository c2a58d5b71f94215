// Package artifacts keeps the files that an agent produced: each save of a name
// in a session is a new version, and a version never changes. [Memory] and
// [Directory] are the stores of this package; artifactstest checks any other.
package artifacts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
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
	// ErrDamaged reports stored content that exists but is not what was saved.
	ErrDamaged = errors.New("stored artifact is damaged")
)

// defaultMIME is the type of an artifact that was saved without one.
const defaultMIME = "application/octet-stream"

// Info describes one version of an artifact. Its String is that of the Ref.
type Info struct {
	// Ref names it; the Version is never [Latest].
	Ref
	// MIME is the type as given to Save; application/octet-stream if there was none.
	MIME string `json:"mime"`
	// Size is the length of the content in bytes.
	Size int64 `json:"size"`
	// Digest is the SHA-256 of the content, 64 lower-case hex digits.
	Digest string `json:"digest"`
	// Created is when the version was saved, in UTC and whole milliseconds.
	Created time.Time `json:"created"`
}

// Session describes what a store keeps for one session.
type Session struct {
	ID string `json:"id"`
	// Bytes is the size of all contents, and Versions their number.
	Bytes    int64 `json:"bytes"`
	Versions int   `json:"versions"`
	// Latest is when the last version was saved.
	Latest time.Time `json:"latest,omitzero"`
}

// Store keeps versioned artifacts by session. Implementations are safe for
// concurrent use by any number of goroutines and pass artifactstest.Run.
//
// A session is any string. A name is as [Ref.Check] says; a bad one fails with [ErrName].
type Store interface {
	// Save reads content to its end and stores it as the next version of the name. mime is one
	// line of text of at most 512 bytes, or empty. Versions of
	// a name count 0, 1, 2 … without a gap, even if many save at once. A version appears
	// completely or not at all. If content fails or ctx ends, nothing is stored and no version
	// is used up. The same holds for content of more than limit bytes, with ErrTooLarge. A
	// limit of 0 accepts only empty content; a negative one is an error. Save holds no more of
	// the content in memory than the store keeps there.
	//
	// If the session ends during a Save, the Save fails with ErrEnded. A Save beyond what the
	// store keeps for a session fails with ErrQuota; what one session keeps never makes a Save
	// of another one fail.
	Save(ctx context.Context, session, name, mime string, content io.Reader, limit int64) (Info, error)

	// Open returns the content of a version, the highest one for [Latest], and
	// its description. The error is ErrNotFound if it is not stored. Reading to
	// the end fails with ErrDamaged if the content is not what was saved. The
	// caller closes the reader; it may become unreadable when the session ends.
	Open(ctx context.Context, session string, ref Ref) (io.ReadCloser, Info, error)

	// List returns all versions of all names of the session, sorted by name and
	// then by version. For a session with nothing stored the list is empty.
	List(ctx context.Context, session string) ([]Info, error)

	// End removes all artifacts of the session; its names start again at
	// version 0. Ending an unknown session is not an error.
	End(ctx context.Context, session string) error

	// Sessions returns the sessions in which something is stored, sorted by id.
	Sessions(ctx context.Context) ([]Session, error)

	// Remove removes one version, the highest one for [Latest], or fails with
	// ErrNotFound. Its number is never given to another version before the session
	// ends.
	Remove(ctx context.Context, session string, ref Ref) error

	// RemoveBefore removes the versions of all sessions that were saved before a
	// time, and returns their number. A session that is empty after that has
	// ended.
	RemoveBefore(ctx context.Context, before time.Time) (int, error)
}

// Begin fills i with the name and the type of a Save, whose arguments it checks. A store that
// calls it first has the same errors as every other.
func (i *Info) Begin(name, mime string, content io.Reader, limit int64) error {
	*i = Info{Ref: Ref{Name: name}, MIME: cmp.Or(mime, defaultMIME)}
	if err := i.Check(); err != nil {
		return err
	}
	if err := checkMIME(i.MIME); err != nil {
		return err
	}
	if content == nil {
		return errors.New("content is nil")
	}
	if limit < 0 {
		return fmt.Errorf("limit of %d bytes is negative", limit)
	}
	return nil
}

func checkMIME(mime string) error {
	if len(mime) > maxMIME {
		return fmt.Errorf("invalid MIME type: %d bytes, at most %d are allowed", len(mime), maxMIME)
	}
	if !utf8.ValidString(mime) || strings.ContainsFunc(mime, unicode.IsControl) {
		return fmt.Errorf("invalid MIME type: %q", mime)
	}
	return nil
}
