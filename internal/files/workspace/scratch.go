package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// Scratch implements [Workspace]. It makes the directory below skills/, with a hidden name that
// ends in name, or in name-2, name-3 and so on if that exists. An executor that isolates lets
// only the commands write there that list it as writable.
func (ws *Local) Scratch(name string) (dir string, err error) {
	if strings.Contains(name, "/") || checkRelative(name) != nil {
		return "", fmt.Errorf("scratch directory %q: %w", name, ErrPath)
	}
	skills, err := openDir(ws.root, skillsDir, false)
	if err != nil {
		return "", err
	}
	defer skills.Close()
	for n := range maxScratch {
		tried := newPrefix + name
		if n > 0 {
			tried += fmt.Sprint("-", n+1)
		}
		err = skills.Mkdir(tried, 0o700)
		if err == nil {
			return skillsDir + "/" + tried, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return "", fmt.Errorf("make a scratch directory: %w", plainfile.Cause(err))
}

// Discard implements [Workspace]. A directory that does not exist is no error.
func (ws *Local) Discard(dir string) error {
	name, ok := strings.CutPrefix(dir, skillsDir+"/")
	if !ok || strings.Contains(name, "/") || !strings.HasPrefix(name, newPrefix) || checkRelative(dir) != nil {
		return fmt.Errorf("discard %q: %w", dir, ErrPath)
	}
	skills, err := openDir(ws.root, skillsDir, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer skills.Close()
	return removeAll(skills, name)
}
