package catalog

import (
	"context"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/core"
)

// Bounds of the list of a skill's files.
const (
	maxFiles     = 10_000
	maxFileDepth = 16
)

// Files lists the files of a skill as sorted slash-separated paths below its
// directory, and reports whether something was left out: files beyond limit
// (at most 10,000; that many when limit is 0 or less), folders deeper than 16
// or unreadable ones. What is left out by limit sorts after what is listed.
// Regular files and links to such inside the root are listed, hidden ones and
// SKILL.md included; not listed are version control data (.git, .hg, .svn),
// node_modules, other skills of the catalog below this one, and names with
// control characters or invalid UTF-8.
func (c *Catalog) Files(ctx context.Context, name string, limit int) ([]string, bool, error) {
	if limit <= 0 || limit > maxFiles {
		limit = maxFiles
	}
	var files []string
	var cut bool
	err := c.within(ctx, name, func(st *state, p place, skill core.Skill) error {
		l, err := filesOf(ctx, st, p, limit)
		if err != nil {
			return fileError(skill.Name, ".", err)
		}
		files, cut = l.files, l.cut
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	return files, cut, nil
}

// filesOf lists the files of a skill.
func filesOf(ctx context.Context, st *state, p place, limit int) (*listing, error) {
	l := newListing(st, p, limit, maxFileDepth)
	l.enter = func(dir string) bool { return !neverSearched(path.Base(dir)) }
	l.take = func(string) bool { return true }
	return l, l.walk(ctx, "", 0)
}

// Passed names what [Catalog.Files] passes over because it is no file that can
// be read: links to directories, links that lead nowhere or out of the root,
// pipes and devices, and names with control characters or invalid UTF-8; at most
// the first 20, as they are on disk.
func (c *Catalog) Passed(ctx context.Context, name string) ([]string, error) {
	var passed []string
	err := c.within(ctx, name, func(st *state, p place, _ core.Skill) error {
		l, err := filesOf(ctx, st, p, maxFiles)
		passed = l.passed
		return err
	})
	return passed, err
}

// ReadFile reads a file of a skill, whole and unchanged. The slash-separated
// file path is relative to the skill's directory. As skills refer to their
// neighbours, "../sibling/notes.md" is read too while it stays inside the same
// root, but never through a hidden file or folder outside the skill, nor in the
// folder of another skill that is hidden from the model.
//
// Errors are [ErrUnknownSkill], [ErrPath], [ErrNotExist], [ErrNotRegular] and
// [ErrTooLarge] (see [WithMaxReadBytes]).
func (c *Catalog) ReadFile(ctx context.Context, name, file string) ([]byte, error) {
	var data []byte
	err := c.opened(ctx, name, file, c.cfg.maxReadBytes, func(f fs.File, size int64) (err error) {
		defer f.Close()
		data, err = readAll(f, size, c.cfg.maxReadBytes)
		return err
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

// OpenFile opens a file that [Catalog.ReadFile] would read, of any size. The
// caller closes it.
func (c *Catalog) OpenFile(ctx context.Context, name, file string) (fs.File, error) {
	var opened fs.File
	err := c.opened(ctx, name, file, noLimit, func(f fs.File, _ int64) error {
		opened = f
		return nil
	})
	if err != nil {
		return nil, err
	}
	return opened, nil
}

const noLimit = math.MaxInt64

// opened gives use a file of a skill that is no larger than limit, to be closed
// by it.
func (c *Catalog) opened(ctx context.Context, name, file string, limit int64, use func(f fs.File, size int64) error) error {
	return c.within(ctx, name, func(st *state, p place, skill core.Skill) error {
		full, ok := reach(p.dir, file)
		if !ok || st.conceals(p, full) {
			return fileError(skill.Name, file, ErrPath)
		}
		f, info, err := openRegular(st.trees[p.root], full, limit)
		if err == nil {
			err = use(f, info.Size())
		}
		if err != nil {
			return fileError(skill.Name, file, err)
		}
		return nil
	})
}

// maxPath bounds a path in a tree, in bytes: no system opens a longer one.
const maxPath = 4096

// reach turns a path as a skill writes it into one of the tree. It reports
// false for paths that are absolute or leave the root, and for those that
// leave the skill towards something hidden: a root may be a whole project,
// with its .git and .env.
func reach(dir, file string) (string, bool) {
	file = filepath.ToSlash(file) // on Windows a backslash climbs too
	if path.IsAbs(file) || strings.ContainsRune(file, 0) {
		return "", false
	}
	full := path.Join(dir, file)
	if len(full) > maxPath || !filepath.IsLocal(filepath.FromSlash(full)) {
		return "", false
	}
	if dir == "." || full == dir || strings.HasPrefix(full, dir+"/") {
		return full, true
	}
	outside := full
	for up := dir; up != "."; up = path.Dir(up) {
		if rest, ok := strings.CutPrefix(full, up+"/"); ok {
			outside = rest
			break
		}
	}
	for part := range strings.SplitSeq(outside, "/") {
		if strings.HasPrefix(part, ".") && part != "." {
			return "", false
		}
	}
	return full, true
}
