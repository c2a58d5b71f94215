package catalog

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog/internal/scan"
)

// WithoutFiles leaves files out of every skill, as if they were not there: they are no docs, and
// nothing reads, lists or stages them. paths are slash-separated paths of files and folders, from
// the folder of a skill, in any case. A SKILL.md cannot be left out.
func WithoutFiles(paths ...string) Option {
	return func(c *config) error {
		for _, p := range paths {
			if !fs.ValidPath(p) || p == "." || scan.IsSkillFile(p) {
				return fmt.Errorf("WithoutFiles: %q: want the path of a file or a folder below the folder of a skill", p)
			}
		}
		c.withoutFiles = append(slices.Clip(c.withoutFiles), paths...)
		return nil
	}
}

// partialTree is a tree without some files of its skills. Links that lead to such files are left
// out too.
type partialTree struct {
	scan.Tree
	base    string            // the folder of the skill that is read
	skills  map[string]string // ids by the folders of all skills of the tree
	without []string          // paths from the folder of a skill
}

// lacks reports whether a path of the tree is left out. A file belongs to the skill in the nearest
// folder above it.
func (t *partialTree) lacks(name string) bool {
	dir, rel := path.Dir(name), name
	for dir != t.base && t.skills[dir] == "" {
		if dir == "." {
			return false
		}
		dir = path.Dir(dir)
	}
	if dir != "." {
		rel = name[len(dir)+1:]
	}
	return slices.ContainsFunc(t.without, func(p string) bool {
		return len(rel) >= len(p) && strings.EqualFold(rel[:len(p)], p) && (len(rel) == len(p) || rel[len(p)] == '/')
	})
}

// check returns the error of a path that is left out, or that leads to such a file.
func (t *partialTree) check(op, name string) error {
	resolved, err := t.Tree.Resolve(name)
	if err != nil {
		return err
	}
	if t.lacks(name) || t.lacks(resolved) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return nil
}

// ReadDir implements [scan.Tree].
func (t *partialTree) ReadDir(dir string, limit int) ([]fs.DirEntry, bool, error) {
	if err := t.check("readdir", dir); err != nil {
		return nil, false, err
	}
	entries, cut, err := t.Tree.ReadDir(dir, limit)
	return slices.DeleteFunc(slices.Clone(entries), func(e fs.DirEntry) bool { return t.lacks(scan.Below(dir, e.Name())) }), cut, err
}

// Stat implements [scan.Tree].
func (t *partialTree) Stat(name string) (fs.FileInfo, error) {
	if err := t.check("stat", name); err != nil {
		return nil, err
	}
	return t.Tree.Stat(name)
}

// Open implements [scan.Tree].
func (t *partialTree) Open(name string) (fs.File, error) {
	if err := t.check("open", name); err != nil {
		return nil, err
	}
	return t.Tree.Open(name)
}
