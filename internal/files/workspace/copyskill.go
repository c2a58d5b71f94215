package workspace

import (
	"bytes"
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
)

type skillLink struct{ name, target string }

// skillLinks are the links in every skill's directory.
var skillLinks = []skillLink{
	{"out", "../../out"},
	{"work", "../../work"},
	{"inputs", "../../work/inputs"},
}

// venvName is the writable directory in a skill's directory. It is not a link,
// because Python refuses to create an environment in a link.
const venvName = ".venv"

// copySkill copies a skill into a new directory in skills. The result is never nil, and the
// caller must close it. After an error the caller must remove its temp directory.
func (ws *Local) copySkill(ctx context.Context, skills *os.Root, name string, files Files) (*skillCopy, error) {
	c := &skillCopy{ws: ws, temp: freshName(newPrefix), name: name, files: files, entries: map[string][]string{".": {"."}}}
	if err := skills.Mkdir(c.temp, 0o755); err != nil {
		return c, cause(err)
	}
	var err error
	if c.dir, err = openDir(skills, c.temp, false); err != nil {
		return c, err
	}
	names, cut, err := files.Files(ctx, name, maxSkillFiles)
	if err != nil {
		return c, err
	}
	if cut {
		c.warn("not all files of the skill are staged: only the first %d", len(names))
	}
	if _, c.verbatim = files.(Verbatim); !c.verbatim {
		c.renameReserved(names)
	}
	for _, file := range names {
		if err := c.copyFile(ctx, file); err != nil {
			return c, fmt.Errorf("file %q: %w", file, err)
		}
	}
	return c, c.finish()
}

// skillCopy copies one skill into a directory of its own.
type skillCopy struct {
	ws       *Local
	temp     string // name of the directory below skills/
	dir      *os.Root
	name     string
	files    Files
	entries  map[string][]string // by directory: the names created in it; "." holds "." too
	newNames map[string]string   // by reserved first element of a path: its new name
	bytes    int64
	// verbatim copies have neither links nor a writable directory.
	verbatim bool

	warnings []string
}

func (c *skillCopy) close() {
	if c.dir != nil {
		c.dir.Close()
	}
}

// addEntry records that a file or directory was created. A directory comes before its
// contents.
func (c *skillCopy) addEntry(file string) {
	dir, name := path.Split(file)
	dir = path.Clean(dir)
	c.entries[dir] = append(c.entries[dir], name)
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
	if other, ok := c.newNames[first]; ok {
		file = path.Join(other, rest)
	}
	if err := c.makeDirs(path.Dir(file)); err != nil {
		return err
	}
	if err := c.write(ctx, filepath.FromSlash(file), src, info); err != nil {
		return err
	}
	c.addEntry(file)
	return nil
}

// charge counts n bytes that were written. It allows a small skill even if the workspace
// is full.
func (c *skillCopy) charge(ctx context.Context, n int64) error {
	if c.bytes += n; c.bytes <= c.ws.owner.cfg.spare() {
		c.ws.addUsed(n)
		return nil
	}
	return c.ws.charge(ctx, n)
}

func (c *skillCopy) makeDirs(dir string) error {
	if c.entries[dir] != nil {
		return nil
	}
	if err := c.makeDirs(path.Dir(dir)); err != nil {
		return err
	}
	if len(c.entries) == maxSkillDirs {
		return fmt.Errorf("%w: a skill may have %d directories", ErrTooLarge, maxSkillDirs)
	}
	if err := c.dir.Mkdir(filepath.FromSlash(dir), 0o755); err != nil {
		return cause(err)
	}
	c.entries[dir] = []string{}
	c.addEntry(dir)
	return nil
}

func (c *skillCopy) warn(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

// renameReserved chooses new names for the skill's own entries that have the name of a link
// or of .venv.
func (c *skillCopy) renameReserved(listed []string) {
	top := map[string]bool{}
	for _, file := range listed {
		first, _, _ := strings.Cut(file, "/")
		top[first] = true
	}
	c.newNames = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(top)) {
		if !isReserved(name) {
			continue
		}
		other := name + ".skill"
		for i := 2; top[other]; i++ {
			other = fmt.Sprintf("%s.skill_%d", name, i)
		}
		c.newNames[name] = other
		c.warn("the skill's own %q is staged as %q: that name belongs to the workspace", name, other)
	}
}

func isReserved(name string) bool {
	same := func(a, b string) bool { return a == b }
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		same = strings.EqualFold // these systems ignore the case of file names
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
		c.addEntry(l.name)
	}
	if !c.verbatim {
		if err := c.dir.Mkdir(venvName, 0o755); err != nil {
			return cause(err)
		}
	}
	for dir := range c.entries {
		if err := c.dir.Chmod(filepath.FromSlash(dir), 0o555); err != nil {
			return cause(err)
		}
	}
	return nil
}

// write creates a file of the skill. The file is executable if its source is, or if its
// content begins like a program.
func (c *skillCopy) write(ctx context.Context, file string, src io.Reader, info fs.FileInfo) error {
	f, err := c.dir.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return cause(err)
	}
	first := min(info.Size()+1, copyChunk) // small files need little memory
	if _, err = c.ws.fill(ctx, f, src, first, c.charge); err != nil {
		err = cause(err) // the path may be that of the source
	}
	mode := fs.FileMode(0o444)
	if info.Mode().Perm()&0o100 != 0 || startsProgram(f) {
		mode = 0o555
	}
	return errors.Join(err, withoutPath(f, f.Chmod(mode)), withoutPath(f, f.Close()))
}

func startsProgram(f io.ReaderAt) bool {
	start := make([]byte, 4)
	n, _ := f.ReadAt(start, 0) // an unreadable file does not begin like a program
	return bytes.HasPrefix(start[:n], []byte("#!")) || bytes.HasPrefix(start[:n], []byte("\x7fELF"))
}
