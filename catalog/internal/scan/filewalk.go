package scan

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Walk lists the files of one skill in the bytewise order of their paths. So a list that was cut
// is the beginning of the full list. It lists links to regular files of the root, but does not
// follow links to directories.
type Walk struct {
	Tree        Tree
	Base        string            // directory of the skill
	OtherSkills map[string]string // directories of skills; their files are not this skill's
	Enter       func(dir string) bool
	Take        func(name string) bool
	Limit       int // files
	MaxDepth    int

	Files   []string
	Visited []string // the directories that were read, as paths in the tree
	Cut     bool     // something was left out
	// Skipped are the first entries that cannot be listed as files: pipes, unusable names, and
	// links to a directory, to nothing or out of the root.
	Skipped []string

	dirs, entries int
}

func (l *Walk) skip(rel string) {
	if len(l.Skipped) < maxSkipped {
		l.Skipped = append(l.Skipped, rel)
	}
}

// WalkAll lists every file of the skill in base: all but version control data, installed
// packages and the files of other skills.
func WalkAll(ctx context.Context, t Tree, base string, others map[string]string, limit int) (*Walk, error) {
	l := &Walk{
		Tree: t, Base: base, OtherSkills: others, Limit: limit, MaxDepth: maxFileDepth,
		Enter: func(dir string) bool { return !NeverSearched(path.Base(dir)) },
		Take:  func(string) bool { return true },
	}
	return l, l.Run(ctx)
}

// Run walks the skill. The error is that of ctx, or says that the skill's own folder cannot be
// read.
func (l *Walk) Run(ctx context.Context) error { return l.walk(ctx, "", 0) }

// walk lists the folder rel of the skill; "" is the skill's own folder. A folder
// that cannot be read is an error only if it is the skill's own.
func (l *Walk) walk(ctx context.Context, rel string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir := l.Base
	if rel != "" {
		dir = Below(l.Base, rel)
	}
	if l.dirs++; depth > l.MaxDepth || l.dirs > maxListedDirs || l.entries >= maxListedEntries {
		l.Cut = true
		return nil
	}
	entries, cut, err := l.Tree.ReadDir(dir, min(maxEntries, maxListedEntries-l.entries))
	if err != nil {
		if rel == "" || IsClosed(err) {
			return err
		}
		l.Cut = true
		return nil
	}
	l.Cut, l.entries, l.Visited = l.Cut || cut, l.entries+len(entries), append(l.Visited, dir)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(sortKey(a), sortKey(b)) })
	for _, entry := range entries {
		name := entry.Name()
		if !isName(name) || !utf8.ValidString(name) || strings.ContainsFunc(name, IsControl) {
			l.skip(strings.TrimPrefix(rel+"/"+name, "/"))
			continue
		}
		if err := l.visit(ctx, entry, strings.TrimPrefix(rel+"/"+name, "/"), Below(dir, name), depth); err != nil {
			return err
		}
		if len(l.Files) > l.Limit {
			l.Files, l.Cut = l.Files[:l.Limit], true
			return nil
		}
	}
	return nil
}

// visit lists a file or enters a folder. file is its path in the tree.
func (l *Walk) visit(ctx context.Context, entry fs.DirEntry, rel, file string, depth int) error {
	if entry.IsDir() {
		if l.OtherSkills[file] == "" && l.Enter(rel) {
			return l.walk(ctx, rel, depth+1)
		}
		return nil
	}
	if !l.Take(entry.Name()) {
		return nil
	}
	mode := entry.Type()
	if mode&fs.ModeSymlink != 0 {
		info, err := l.Tree.Stat(file)
		switch {
		case err == nil:
			mode = info.Mode()
		case IsClosed(err): // a refresh has closed the tree: the caller starts over
			return err
		}
	}
	if mode.IsRegular() {
		l.Files = append(l.Files, rel)
	} else {
		l.skip(rel)
	}
	return nil
}

// sortKey returns the key that sorts entries by the paths of their files: "a/b" comes after
// "a.md" although "a" comes before it.
func sortKey(entry fs.DirEntry) string {
	if entry.IsDir() {
		return entry.Name() + "/"
	}
	return entry.Name()
}
