package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
)

// OpenStore opens the directory of a store. If it does not exist, OpenStore makes it, readable
// by its owner only. It removes the entries that crashes left there: sessions that were being
// ended, and those that isLeftover matches. Errors name the store by what, such as "session".
// There are no lock files, so a process that dies blocks no other.
func OpenStore(path, what string, log *slog.Logger, isLeftover func(root *os.Root, name string) bool) (*os.Root, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("make %s directory: %w", what, err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open %s directory: %w", what, err)
	}
	if err := RemoveLeftovers(root, log, func(name string) bool { return isLeftover(root, name) }); err != nil {
		return nil, errors.Join(fmt.Errorf("clean %s directory %q: %w", what, path, err), root.Close())
	}
	return root, nil
}

// EndedPrefix begins the name of an ended session while it is being removed.
const EndedPrefix = "ended."

// End removes the directory of a session. It renames it first, so that the
// session is gone at once, and then deletes the files. Without such a directory
// it does nothing. If sync is set, the rename has reached the disk when End
// returns. After an error some files may remain, but the session is gone unless
// the rename itself failed.
func End(root *os.Root, session string, sync bool) error {
	ended := Fresh(EndedPrefix)
	err := root.Rename(session, ended)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && sync {
		err = Sync(root, ".")
	}
	if err == nil {
		err = remove(root, ended)
	}
	return err
}

// remove removes a directory. It tries several times, because a late writer may add a file
// meanwhile.
func remove(root *os.Root, name string) (err error) {
	for range removeTries {
		if err = root.RemoveAll(name); err == nil {
			return nil
		}
	}
	return fmt.Errorf("remove files of an ended session: %w", err)
}

// RemoveLeftovers removes from the top of a store the sessions whose End was
// interrupted by a crash, and whatever else isLeftover matches. It logs what it
// cannot remove.
func RemoveLeftovers(root *os.Root, log *slog.Logger, isLeftover func(name string) bool) error {
	names, err := List(root, ".")
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, EndedPrefix) && !isLeftover(name) {
			continue
		}
		if err := remove(root, name); err != nil {
			log.Warn("leftover of a store not removed", "store", root.Name(), "name", name, "error", err)
		}
	}
	return nil
}
