package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/files/durable"
)

// Pin implements [Store]. A text of more than 16 MiB fails with [ErrTooLarge]. A damaged
// pin is written again.
func (d *Directory) Pin(ctx context.Context, session, digest, text string) error {
	if err := checkPin(digest, text); err != nil {
		return err
	}
	if len(text) > maxFile {
		return fmt.Errorf("pin %q of %d bytes: %w", digest, len(text), ErrTooLarge)
	}
	var err error
	for range maxLooks {
		if err := ctx.Err(); err != nil {
			return err
		}
		err = d.pin(durable.Name(session), digest, text)
		if err == nil {
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) { // otherwise the session ended between two steps
			break
		}
	}
	return fmt.Errorf("pin %q: %w", digest, err)
}

func (d *Directory) pin(dir, digest, text string) error {
	if _, err := d.pinned(dir, digest); err == nil {
		return d.settleSession(dir) // another writer may not have synced it yet
	}
	if err := d.root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	temp := durable.Fresh(newPrefix)
	if err := writeNew(d.root, temp, []byte(text), d.sync); err != nil {
		return err
	}
	if err := d.root.Rename(temp, dir+"/"+pinPrefix+digest); err != nil {
		return errors.Join(err, d.root.Remove(temp))
	}
	return d.settleSession(dir)
}

// settleSession makes the names in the directory of a session, and its own name,
// durable.
func (d *Directory) settleSession(dir string) error {
	return ignoreMissing(d.syncDirs(dir, ".")) // missing: the session ended just after
}

// Pinned implements [Store]. Content that does not have the digest is reported as
// not pinned, with the reason; pinning it again repairs it.
func (d *Directory) Pinned(ctx context.Context, session, digest string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if !durable.IsName(digest) {
		return "", notPinned(digest)
	}
	return d.pinned(durable.Name(session), digest)
}

func (d *Directory) pinned(dir, digest string) (string, error) {
	data, err := readFile(d.root, dir+"/"+pinPrefix+digest)
	if errors.Is(err, fs.ErrNotExist) {
		return "", notPinned(digest)
	}
	if errors.Is(err, ErrDamaged) {
		return "", fmt.Errorf("%w: %w", notPinned(digest), err)
	}
	if err != nil {
		return "", fmt.Errorf("read pin %q: %w", digest, err)
	}
	text := string(data)
	if Digest(text) != digest {
		return "", fmt.Errorf("%w: %w", notPinned(digest), ErrDamaged)
	}
	return text, nil
}

// Unpin implements [Store].
func (d *Directory) Unpin(ctx context.Context, session string, keep []string) error {
	dir := durable.Name(session)
	names, err := listNames(d.root, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return ctx.Err()
	}
	var errs []error
	for _, name := range names {
		digest, ok := strings.CutPrefix(name, pinPrefix)
		if !ok || slices.Contains(keep, digest) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		errs = append(errs, ignoreMissing(d.root.Remove(dir+"/"+name)))
	}
	if len(errs) > 0 {
		errs = append(errs, ignoreMissing(d.syncDirs(dir)))
	}
	if err := errors.Join(append(errs, err)...); err != nil {
		return fmt.Errorf("unpin content of session %q: %w", session, err)
	}
	return ctx.Err()
}
