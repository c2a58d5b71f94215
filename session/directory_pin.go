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

// Pin implements [Store]. A text of more than 16 MiB fails with [ErrTooLarge]. Pin replaces a
// damaged text.
func (d *Directory) Pin(ctx context.Context, session, digest, text string) error {
	if err := checkPin(digest, text); err != nil {
		return err
	}
	if len(text) > maxFile {
		return fmt.Errorf("pin %q of %d bytes: %w", digest, len(text), ErrTooLarge)
	}
	var err error
	for range maxAttempts {
		if err := ctx.Err(); err != nil {
			return err
		}
		err = d.writePin(durable.Name(session), digest, text)
		if err == nil {
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) { // otherwise the session ended between two steps
			break
		}
	}
	return fmt.Errorf("pin %q: %w", digest, err)
}

func (d *Directory) writePin(dir, digest, text string) error {
	if _, err := d.readPin(dir, digest); err == nil {
		return d.syncSession(dir) // another writer may have written it but not synced it yet
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
	return d.syncSession(dir)
}

// syncSession syncs the directory of a session, and its name, to the disk.
func (d *Directory) syncSession(dir string) error {
	return ignoreMissing(d.syncDirs(dir, ".")) // missing: the session ended just after
}

// Pinned implements [Store]. If the content does not have the digest, the error wraps
// ErrNotPinned and ErrDamaged; another Pin repairs it.
func (d *Directory) Pinned(ctx context.Context, session, digest string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if !durable.IsName(digest) {
		return "", notPinnedError(digest)
	}
	return d.readPin(durable.Name(session), digest)
}

func (d *Directory) readPin(dir, digest string) (string, error) {
	data, err := readFile(d.root, dir+"/"+pinPrefix+digest)
	if errors.Is(err, fs.ErrNotExist) {
		return "", notPinnedError(digest)
	}
	if errors.Is(err, ErrDamaged) {
		return "", fmt.Errorf("%w: %w", notPinnedError(digest), err)
	}
	if err != nil {
		return "", fmt.Errorf("read pin %q: %w", digest, err)
	}
	text := string(data)
	if Digest(text) != digest {
		return "", fmt.Errorf("%w: %w", notPinnedError(digest), ErrDamaged)
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
