package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// removeBatch is how many entries of a directory are processed at a time.
const removeBatch = 512

// removeAll removes an entry of dir with everything in it; if it does not exist
// that is no error. Commands choose what is in there, so it follows no links,
// makes unreadable directories readable, and moves directories up instead of
// descending: a tree of any depth takes one open directory and no long paths. It
// removes everything that it can before it reports what cannot be removed.
func removeAll(dir *os.Root, name string) error {
	stack, stuck := []string{name}, error(nil)
	for len(stack) > 0 {
		last := stack[len(stack)-1]
		moved, more, err := removeSome(dir, last)
		if err != nil {
			stuck = err // the latest one stands for all
		}
		if !more {
			stack = stack[:len(stack)-1]
		}
		stack = append(stack, moved...)
	}
	return stuck
}

// removeSome removes an entry if it is not a directory or is empty; otherwise it
// removes some of its contents, and moves directories in it into dir under new
// names. More reports that it did so, and that the entry is still to be removed.
func removeSome(dir *os.Root, name string) (moved []string, more bool, err error) {
	info, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if !info.IsDir() {
		return nil, false, dir.Remove(name)
	}
	if err := makeOpen(dir, name, info); err != nil {
		return nil, false, err
	}
	sub, err := openDir(dir, name, false)
	if err != nil {
		return nil, false, err
	}
	defer sub.Close()
	entries, err := readSome(sub, removeBatch)
	if err != nil {
		return nil, false, err
	}
	if len(entries) == 0 {
		return nil, false, dir.Remove(name)
	}
	for _, e := range entries {
		up, failed := removeEntry(dir, sub, name, e.Name())
		if failed != nil {
			err = failed
			continue
		}
		if more = true; up != "" {
			moved = append(moved, up)
		}
	}
	return moved, more, err
}

// removeEntry removes an entry of sub. If it is a directory it moves it into dir
// under the name that it returns.
func removeEntry(dir, sub *os.Root, subName, name string) (string, error) {
	info, err := sub.Lstat(name)
	if err != nil || !info.IsDir() {
		if err == nil {
			err = sub.Remove(name)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return "", err
	}
	// A directory must be writable to change its parent.
	if err := makeOpen(sub, name, info); err != nil {
		return "", err
	}
	up := freshName(trashPrefix)
	return up, dir.Rename(subName+"/"+name, up)
}

// makeOpen allows the owner to read and write a directory.
func makeOpen(dir *os.Root, name string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o700 == 0o700 {
		return nil
	}
	return dir.Chmod(name, 0o700)
}

// readSome returns up to n entries of a directory.
func readSome(dir *os.Root, n int) ([]fs.DirEntry, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(n)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}

// Prefixes of names that exist for a moment only.
const (
	newPrefix   = plainfile.NewPrefix
	trashPrefix = plainfile.OldPrefix
)

// freshName returns a name that nothing has yet.
func freshName(prefix string) string {
	var random [8]byte
	rand.Read(random[:]) // never fails
	return fmt.Sprintf("%s%x", prefix, random)
}
