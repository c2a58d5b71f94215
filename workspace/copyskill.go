package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

const (
	maxSkillFiles = 10_000
	maxSkillDirs  = 10_000
)

// skillLinks are the links below a skill's directory.
var skillLinks = []struct{ name, target string }{
	{"out", "../../out"},
	{"work", "../../work"},
	{"inputs", "../../work/inputs"},
}

// venvName is the writable directory below a skill's.
const venvName = ".venv"

// copySkill copies a skill into a new directory of skills and returns its name
// there, also with an error.
func (ws *Workspace) copySkill(ctx context.Context, skills *os.Root, name string, files Files) (temp string, err error) {
	temp = freshName(newPrefix)
	if err := skills.Mkdir(temp, 0o755); err != nil {
		return temp, cause(err)
	}
	dir, err := openDir(skills, temp, false)
	if err != nil {
		return temp, err
	}
	defer dir.Close()
	listed, cut, err := files.Files(ctx, name, maxSkillFiles)
	if err != nil {
		return temp, err
	}
	if cut {
		ws.owner.cfg.logger.Warn("workspaces: not all files of the skill are staged", "skill", name, "files", len(listed))
	}
	c := skillCopy{ws: ws, dir: dir, name: name, files: files, dirs: map[string]bool{".": true}}
	c.aside = c.keepAside(listed)
	for _, file := range listed {
		if err := c.copyFile(ctx, file); err != nil {
			return temp, fmt.Errorf("file %q: %w", file, err)
		}
	}
	return temp, c.finish()
}

// skillCopy is the copying of one skill into a directory of its own.
type skillCopy struct {
	ws    *Workspace
	dir   *os.Root
	name  string
	files Files
	dirs  map[string]bool   // made already
	aside map[string]string // reserved first elements of paths to what they become
}

func (c *skillCopy) copyFile(ctx context.Context, file string) error {
	if !fs.ValidPath(file) || !filepath.IsLocal(filepath.FromSlash(file)) || len(file) > maxPath {
		return fmt.Errorf("%w: it leaves the skill or is too long", ErrPath)
	}
	data, err := c.files.ReadFile(ctx, c.name, file)
	if err != nil {
		return err
	}
	if err := c.ws.checkFileSize(int64(len(data))); err != nil {
		return err
	}
	first, rest, _ := strings.Cut(file, "/")
	if other, ok := c.aside[first]; ok {
		file = path.Join(other, rest)
	}
	if err := c.makeDirs(path.Dir(file)); err != nil {
		return err
	}
	if err := writeSkillFile(c.dir, filepath.FromSlash(file), data); err != nil {
		return err
	}
	return c.ws.charge(ctx, int64(len(data)))
}

func (c *skillCopy) makeDirs(dir string) error {
	if c.dirs[dir] {
		return nil
	}
	if err := c.makeDirs(path.Dir(dir)); err != nil {
		return err
	}
	if len(c.dirs) == maxSkillDirs {
		return fmt.Errorf("%w: a skill may have %d directories", ErrTooLarge, maxSkillDirs)
	}
	c.dirs[dir] = true
	if err := c.dir.Mkdir(filepath.FromSlash(dir), 0o755); err != nil {
		return cause(err)
	}
	return nil
}

// keepAside returns new names for the entries of a skill whose names are those
// of the links, and says so in the log.
func (c *skillCopy) keepAside(listed []string) map[string]string {
	top := map[string]bool{}
	for _, file := range listed {
		first, _, _ := strings.Cut(file, "/")
		top[first] = true
	}
	aside := map[string]string{}
	for name := range top {
		if !isReserved(name) {
			continue
		}
		other := name + ".skill"
		for i := 2; top[other]; i++ {
			other = fmt.Sprintf("%s.skill_%d", name, i)
		}
		aside[name] = other
		c.ws.owner.cfg.logger.Warn("workspaces: name of the skill's own file is reserved",
			"skill", c.name, "file", name, "staged_as", other)
	}
	return aside
}

func isReserved(name string) bool {
	same := func(a, b string) bool { return a == b }
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		same = strings.EqualFold // where these are the same file
	}
	return same(name, venvName) || slices.ContainsFunc(skillLinks, func(l struct{ name, target string }) bool {
		return same(name, l.name)
	})
}

// finish adds the links and closes the directories for writing.
func (c *skillCopy) finish() error {
	for _, l := range skillLinks {
		if err := c.dir.Symlink(filepath.FromSlash(l.target), l.name); err != nil {
			return cause(err)
		}
	}
	if err := c.dir.Mkdir(venvName, 0o755); err != nil {
		return cause(err)
	}
	for dir := range c.dirs {
		if err := c.dir.Chmod(filepath.FromSlash(dir), 0o555); err != nil {
			return cause(err)
		}
	}
	return nil
}

func writeSkillFile(dir *os.Root, file string, data []byte) error {
	f, err := dir.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return cause(err)
	}
	mode := fs.FileMode(0o444)
	if bytes.HasPrefix(data, []byte("#!")) || bytes.HasPrefix(data, []byte("\x7fELF")) {
		mode = 0o555
	}
	_, err = f.Write(data)
	return errors.Join(withoutPath(f, err), withoutPath(f, f.Chmod(mode)), withoutPath(f, f.Close()))
}
