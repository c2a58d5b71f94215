package remote

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/executor"
)

// markPrefix begins the name of a mark.
const markPrefix = ".satchel-mark-"

// mark is an empty file with a random name in a workspace. A runner that sees it sees the same directory.
// It is there from the start of a runner to its hello.
type mark struct {
	root *os.Root
	name string
}

// putMark writes a mark into a directory.
func putMark(dir string) (*mark, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: workspace: %w", executor.ErrCommand, err)
	}
	m := &mark{root, markPrefix + strings.ToLower(rand.Text())}
	file, err := root.OpenFile(m.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: mark the workspace: %w", executor.ErrSetup, err), root.Close())
	}
	if err := file.Close(); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: mark the workspace: %w", executor.ErrSetup, err), m.remove())
	}
	return m, nil
}

// remove removes the mark. A nil mark is none.
func (m *mark) remove() error {
	if m == nil {
		return nil
	}
	err := m.root.Remove(m.name)
	if errors.Is(err, fs.ErrNotExist) { // with its directory
		err = nil
	}
	return errors.Join(err, m.root.Close())
}

// hasMark reports whether a directory has a mark.
func hasMark(dir, name string) bool {
	if !strings.HasPrefix(name, markPrefix) || filepath.Base(name) != name {
		return false
	}
	info, err := os.Lstat(filepath.Join(dir, name))
	return err == nil && info.Mode().IsRegular()
}
