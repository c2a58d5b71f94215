// Package artifacts stores the files that an agent produces. Each save of a name in a session
// is a new version, and a version never changes. [Memory] and [Directory] are stores; package
// artifactstest tests any other.
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
	// ErrTooLarge reports content above the limit of a Save. Nothing was stored.
	ErrTooLarge = errors.New("artifact is too large")
	// ErrEnded reports a Save whose session ended meanwhile. Nothing is stored.
	ErrEnded = errors.New("session ended during the save")
	// ErrDamaged reports stored content that differs from what was saved.
	ErrDamaged = errors.New("stored artifact is damaged")
)

// defaultMIME is the type of an artifact that is saved without one.
const defaultMIME = "application/octet-stream"

// Info describes one version of an artifact. Its String method is that of the Ref.
type Info struct {
	// Ref identifies the version; its Version is never [Latest].
	Ref
	// MIME is the type that was passed to Save, or application/octet-stream.
	MIME string `json:"mime"`
	// Size is the length of the content in bytes.
	Size int64 `json:"size"`
	// Digest is the SHA-256 of the content, 64 lower-case hex digits.
	Digest string `json:"digest"`
	// Created is when the version was saved, in UTC and whole milliseconds.
	Created time.Time `json:"created"`
}

// Session describes a session with artifacts in a store.
type Session struct {
	ID string `json:"id"`
	// Bytes is the length of all contents, and Versions their number.
	Bytes    int64 `json:"bytes"`
	Versions int   `json:"versions"`
	// Latest is when the last version was saved.
	Latest time.Time `json:"latest,omitzero"`
}

// Store stores versioned artifacts by session. Implementations are safe for concurrent use and
// pass artifactstest.Run.
//
// A session is any string. [Ref.Check] says which names are valid; any other fails with
// [ErrName].
type Store interface {
	// Save reads content to its end and stores it as the next version of the name. mime is one
	// line of text of at most 512 bytes, or empty. Versions of a name count 0, 1, 2 … without a
	// gap, even if many Saves run at once. A version appears completely or not at all.
	//
	// If content fails or ctx ends, nothing is stored and no version is used up. The same holds
	// for content of more than limit bytes, with ErrTooLarge. A limit of 0 accepts only empty
	// content; a negative one is an error. Save needs no more memory for the content than the
	// store itself keeps.
	//
	// If the session ends during a Save, the Save fails with ErrEnded. A Save above the quota of
	// the session fails with ErrQuota. One session's quota never makes a Save of another session
	// fail.
	Save(ctx context.Context, session, name, mime string, content io.Reader, limit int64) (Info, error)

	// Open returns the content of a version, the highest one for [Latest], and its description.
	// The error is ErrNotFound if it is not stored. If the content differs from what was saved,
	// the reader fails with ErrDamaged instead of io.EOF. The caller closes the reader. It may
	// fail after the session has ended.
	Open(ctx context.Context, session string, ref Ref) (io.ReadCloser, Info, error)

	// List returns all versions of all names of the session, sorted by name and then by version.
	// It is empty if nothing is stored.
	List(ctx context.Context, session string) ([]Info, error)

	// End removes all artifacts of the session; its names start again at
	// version 0. Ending an unknown session is not an error.
	End(ctx context.Context, session string) error

	// Sessions returns the sessions in which something is stored, sorted by id.
	Sessions(ctx context.Context) ([]Session, error)

	// Remove removes one version, the highest one for [Latest], or fails with ErrNotFound. No
	// other version gets its number until the session ends.
	Remove(ctx context.Context, session string, ref Ref) error

	// RemoveBefore removes the versions of all sessions that were saved before a time, and
	// returns their number. It ends sessions that are empty then.
	RemoveBefore(ctx context.Context, before time.Time) (int, error)
}

// Begin sets the name and the type of i from the arguments of a Save, and checks these. A store
// calls it first, so that all stores return the same errors.
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
