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

type skillLink struct{ name, target string }

// skillLinks are the links below every skill's directory.
var skillLinks = []skillLink{
	{"out", "../../out"},
	{"work", "../../work"},
	{"inputs", "../../work/inputs"},
}

// venvName is the writable directory below a skill's. It is no link, because
// Python makes no environment where one is.
const venvName = ".venv"

// copySkill copies a skill into a new directory of skills. The copy is never
// nil, is to be closed, and with an error names what is to be removed.
func (ws *Workspace) copySkill(ctx context.Context, skills *os.Root, name string, files Files) (*skillCopy, error) {
	c := &skillCopy{ws: ws, temp: freshName(newPrefix), name: name, files: files, made: map[string][]string{".": {"."}}}
	if err := skills.Mkdir(c.temp, 0o755); err != nil {
		return c, cause(err)
	}
	var err error
	if c.dir, err = openDir(skills, c.temp, false); err != nil {
		return c, err
	}
	listed, cut, err := files.Files(ctx, name, maxSkillFiles)
	if err != nil {
		return c, err
	}
	if cut {
		ws.owner.cfg.logger.Warn("workspaces: not all files of the skill are staged", "skill", name, "files", len(listed))
	}
	c.aside = c.keepAside(listed)
	for _, file := range listed {
		if err := c.copyFile(ctx, file); err != nil {
			return c, fmt.Errorf("file %q: %w", file, err)
		}
	}
	return c, c.finish()
}

// skillCopy is the copying of one skill into a directory of its own.
type skillCopy struct {
	ws    *Workspace
	temp  string // name of the directory below skills/
	dir   *os.Root
	name  string
	files Files
	made  map[string][]string // the names in each directory that was made, and "." in "."
	aside map[string]string   // reserved first elements of paths to what they become
}

func (c *skillCopy) close() {
	if c.dir != nil {
		c.dir.Close()
	}
}

// add notes what was made, its directory before it.
func (c *skillCopy) add(file string) {
	dir, name := path.Split(file)
	dir = path.Clean(dir)
	c.made[dir] = append(c.made[dir], name)
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
	c.add(file)
	return c.ws.charge(ctx, int64(len(data)))
}

func (c *skillCopy) makeDirs(dir string) error {
	if c.made[dir] != nil {
		return nil
	}
	if err := c.makeDirs(path.Dir(dir)); err != nil {
		return err
	}
	if len(c.made) == maxSkillDirs {
		return fmt.Errorf("%w: a skill may have %d directories", ErrTooLarge, maxSkillDirs)
	}
	if err := c.dir.Mkdir(filepath.FromSlash(dir), 0o755); err != nil {
		return cause(err)
	}
	c.made[dir] = []string{}
	c.add(dir)
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
	return same(name, venvName) || slices.ContainsFunc(skillLinks, func(l skillLink) bool {
		return same(name, l.name)
	})
}

// finish adds the links and closes the directories for writing.
func (c *skillCopy) finish() error {
	for _, l := range skillLinks {
		if err := c.dir.Symlink(filepath.FromSlash(l.target), l.name); err != nil {
			return cause(err)
		}
		c.add(l.name)
	}
	if err := c.dir.Mkdir(venvName, 0o755); err != nil {
		return cause(err)
	}
	for dir := range c.made {
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
