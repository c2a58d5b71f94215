package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

type skillLink struct{ name, target string }

// skillLinks are the links in every skill's directory.
var skillLinks = []skillLink{
	{"out", "../../out"},
	{"work", "../../work"},
	{"inputs", "../../work/inputs"},
}

// venvName is the writable directory in a skill's directory. It is not a link,
// because Python does not make an environment in one.
const venvName = ".venv"

// copySkill copies a skill into a new directory of skills. The copy is never nil
// and must be closed; with an error it names what is to be removed.
func (ws *Local) copySkill(ctx context.Context, skills *os.Root, name string, files Files) (*skillCopy, error) {
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
		c.warn("not all files of the skill are staged: only the first %d", len(listed))
	}
	if _, c.verbatim = files.(Verbatim); !c.verbatim {
		c.keepAside(listed)
	}
	for _, file := range listed {
		if err := c.copyFile(ctx, file); err != nil {
			return c, fmt.Errorf("file %q: %w", file, err)
		}
	}
	return c, c.finish()
}

// skillCopy copies one skill into a directory of its own.
type skillCopy struct {
	ws    *Local
	temp  string // name of the directory below skills/
	dir   *os.Root
	name  string
	files Files
	made  map[string][]string // the names that were made in each directory, and "." in "."
	aside map[string]string   // reserved first elements of paths, and what they become
	bytes int64
	// verbatim copies have neither links nor a writable directory.
	verbatim bool

	warnings []string
}

func (c *skillCopy) close() {
	if c.dir != nil {
		c.dir.Close()
	}
}

// add records what was made, each directory before its contents.
func (c *skillCopy) add(file string) {
	dir, name := path.Split(file)
	dir = path.Clean(dir)
	c.made[dir] = append(c.made[dir], name)
}

func (c *skillCopy) copyFile(ctx context.Context, file string) error {
	if !fs.ValidPath(file) || !filepath.IsLocal(filepath.FromSlash(file)) || len(file) > maxPath {
		return fmt.Errorf("%w: it leaves the skill or is too long", ErrPath)
	}
	src, err := c.files.OpenFile(ctx, c.name, file)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err == nil {
		err = c.ws.checkFileSize(info.Size())
	}
	if err != nil {
		return cause(err)
	}
	first, rest, _ := strings.Cut(file, "/")
	if other, ok := c.aside[first]; ok {
		file = path.Join(other, rest)
	}
	if err := c.makeDirs(path.Dir(file)); err != nil {
		return err
	}
	if err := c.write(ctx, filepath.FromSlash(file), src, info); err != nil {
		return err
	}
	c.add(file)
	return nil
}

// charge counts what was written. It allows a small skill even if the workspace
// is full.
func (c *skillCopy) charge(ctx context.Context, n int64) error {
	if c.bytes += n; c.bytes <= c.ws.owner.cfg.spare() {
		c.ws.addUsed(n)
		return nil
	}
	return c.ws.charge(ctx, n)
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

func (c *skillCopy) warn(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

// keepAside finds new names for those entries of a skill that have the names of
// the links.
func (c *skillCopy) keepAside(listed []string) {
	top := map[string]bool{}
	for _, file := range listed {
		first, _, _ := strings.Cut(file, "/")
		top[first] = true
	}
	c.aside = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(top)) {
		if !isReserved(name) {
			continue
		}
		other := name + ".skill"
		for i := 2; top[other]; i++ {
			other = fmt.Sprintf("%s.skill_%d", name, i)
		}
		c.aside[name] = other
		c.warn("the skill's own %q is staged as %q: that name belongs to the workspace", name, other)
	}
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

// finish adds the links and makes the directories read-only.
func (c *skillCopy) finish() error {
	for _, l := range skillLinks {
		if c.verbatim {
			break
		}
		if err := c.dir.Symlink(filepath.FromSlash(l.target), l.name); err != nil {
			return cause(err)
		}
		c.add(l.name)
	}
	if !c.verbatim {
		if err := c.dir.Mkdir(venvName, 0o755); err != nil {
			return cause(err)
		}
	}
	for dir := range c.made {
		if err := c.dir.Chmod(filepath.FromSlash(dir), 0o555); err != nil {
			return cause(err)
		}
	}
	return nil
}

// write makes a file of the skill. It is executable if its source is, or if it
// begins like a program.
func (c *skillCopy) write(ctx context.Context, file string, src io.Reader, info fs.FileInfo) error {
	f, err := c.dir.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return cause(err)
	}
	first := min(info.Size()+1, copyChunk) // small files need little memory
	if _, err = c.ws.fill(ctx, f, src, first, c.charge); err != nil {
		err = cause(err) // the path may be that of the source
	}
	become := fs.FileMode(0o444)
	if info.Mode().Perm()&0o100 != 0 || startsProgram(f) {
		become = 0o555
	}
	return errors.Join(err, withoutPath(f, f.Chmod(become)), withoutPath(f, f.Close()))
}

func startsProgram(f io.ReaderAt) bool {
	start := make([]byte, 4)
	n, _ := f.ReadAt(start, 0) // an unreadable file does not begin like a program
	return bytes.HasPrefix(start[:n], []byte("#!")) || bytes.HasPrefix(start[:n], []byte("\x7fELF"))
}

// Lstat implements [Workspace].
func (ws *Local) Lstat(name string) (fs.FileInfo, error) { return ws.tree().Lstat(name) }

// Open implements [Workspace]. A regular file with a second hard link does not
// count as a plain file, because a command may have linked it from outside.
func (ws *Local) Open(name string) (fs.File, error) { return ws.tree().Open(name) }

func (ws *Local) tree() plainfile.Tree { return plainfile.Tree{Root: ws.root} }

// Create implements [Workspace].
func (ws *Local) Create(name string, perm fs.FileMode, content []byte) error {
	f, err := ws.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return plainfile.Cause(err)
	}
	_, err = f.Write(content)
	if err = cmp.Or(err, f.Close()); err != nil {
		_ = ws.root.Remove(name) // a command may already have removed it
	}
	return plainfile.Cause(err)
}

// Remove implements [Workspace]. It removes a file, a link or an empty
// directory.
func (ws *Local) Remove(name string) error { return plainfile.Cause(ws.root.Remove(name)) }
