package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
)

// EndedPrefix begins the name of an ended session that is being removed.
const EndedPrefix = "ended."

// End takes the directory of a session away in one rename, and then removes it.
// Without one it does nothing. sync says whether that has reached the disk when
// End returns. After an error some files may remain; the session is gone all the
// same unless the error is that of the rename.
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

// remove tries again when a late writer has put one more file there.
func remove(root *os.Root, name string) (err error) {
	for range 5 {
		if err = root.RemoveAll(name); err == nil {
			return nil
		}
	}
	return fmt.Errorf("remove files of an ended session: %w", err)
}

// RemoveLeftovers removes from the top of a store the sessions whose End a crash
// has stopped, and what else isLeftover names. What cannot be removed is logged.
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
