package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/satchel-go/satchel/internal/plainfile"
)

// maxScratch bounds how many names are tried for a scratch directory.
const maxScratch = 100

// Scratch implements [Workspace]. If name is taken it uses name-2, name-3 …, so
// that it never uses what an earlier command has left.
func (ws *Local) Scratch(name string) (dir string, err error) {
	if strings.Contains(name, "/") || checkRelative(name) != nil {
		return "", fmt.Errorf("scratch directory %q: %w", name, ErrPath)
	}
	runs, err := openDir(ws.root, runsDir, false)
	if err != nil {
		return "", err
	}
	defer runs.Close()
	for n := range maxScratch {
		tried := name
		if n > 0 {
			tried += fmt.Sprint("-", n+1)
		}
		err = runs.Mkdir(tried, 0o700)
		if err == nil {
			return runsDir + "/" + tried, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return "", fmt.Errorf("make a scratch directory: %w", plainfile.Cause(err))
}

// Discard implements [Workspace]. If the directory is already gone that is no
// error.
func (ws *Local) Discard(dir string) error {
	name, ok := strings.CutPrefix(dir, runsDir+"/")
	if !ok || strings.Contains(name, "/") || checkRelative(dir) != nil {
		return fmt.Errorf("discard %q: %w", dir, ErrPath)
	}
	runs, err := openDir(ws.root, runsDir, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer runs.Close()
	return removeAll(runs, name)
}
