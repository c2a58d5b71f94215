package catalog

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of one walk over a skill: the directories that it reads, and the entries in
// all of them.
const (
	maxListedDirs    = 5_000
	maxListedEntries = 200_000
)

// fileWalk lists the files of one skill in the bytewise order of their paths, so
// that a list that was cut is the beginning of the whole list. It does not follow
// links to directories. It lists links to regular files of the root.
type fileWalk struct {
	tree     tree
	base     string            // directory of the skill
	others   map[string]string // directories of skills; their files are not this skill's
	enter    func(dir string) bool
	take     func(name string) bool
	limit    int // files
	maxDepth int

	files   []string
	visited []string // the directories that were read, as paths in the tree
	dirs    int
	entries int
	cut     bool // something was left out
	// passed are the first entries that cannot be listed as files: links that lead
	// to a directory, nowhere or out of the root, pipes, and unusable names.
	passed []string
}

// maxPassed bounds the number of entries in passed.
const maxPassed = 20

func (l *fileWalk) pass(rel string) {
	if len(l.passed) < maxPassed {
		l.passed = append(l.passed, rel)
	}
}

// walkAll lists every file of the skill in base: all but version control data, installed
// packages and the files of other skills.
func walkAll(ctx context.Context, t tree, base string, others map[string]string, limit int) (*fileWalk, error) {
	l := &fileWalk{
		tree: t, base: base, others: others, limit: limit, maxDepth: maxFileDepth,
		enter: func(dir string) bool { return !neverSearched(path.Base(dir)) },
		take:  func(string) bool { return true },
	}
	return l, l.walk(ctx, "", 0)
}

// walk lists the folder rel of the skill; "" is the skill's own folder. A folder
// that cannot be read is an error only if it is the skill's own.
func (l *fileWalk) walk(ctx context.Context, rel string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir := l.base
	if rel != "" {
		dir = below(l.base, rel)
	}
	if l.dirs++; depth > l.maxDepth || l.dirs > maxListedDirs || l.entries >= maxListedEntries {
		l.cut = true
		return nil
	}
	entries, cut, err := l.tree.readDir(dir, min(maxEntries, maxListedEntries-l.entries))
	if err != nil {
		if rel == "" || isClosed(err) {
			return err
		}
		l.cut = true
		return nil
	}
	l.cut, l.entries, l.visited = l.cut || cut, l.entries+len(entries), append(l.visited, dir)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(sortKey(a), sortKey(b)) })
	for _, entry := range entries {
		name := entry.Name()
		if !isName(name) || !utf8.ValidString(name) || strings.ContainsFunc(name, isControl) {
			l.pass(strings.TrimPrefix(rel+"/"+name, "/"))
			continue
		}
		if err := l.visit(ctx, entry, strings.TrimPrefix(rel+"/"+name, "/"), below(dir, name), depth); err != nil {
			return err
		}
		if len(l.files) > l.limit {
			l.files, l.cut = l.files[:l.limit], true
			return nil
		}
	}
	return nil
}

// visit lists a file or enters a folder. file is its path in the tree.
func (l *fileWalk) visit(ctx context.Context, entry fs.DirEntry, rel, file string, depth int) error {
	if entry.IsDir() {
		if l.others[file] == "" && l.enter(rel) {
			return l.walk(ctx, rel, depth+1)
		}
		return nil
	}
	if !l.take(entry.Name()) {
		return nil
	}
	mode := entry.Type()
	if mode&fs.ModeSymlink != 0 {
		info, err := l.tree.stat(file)
		switch {
		case err == nil:
			mode = info.Mode()
		case isClosed(err): // not the link's fault: the caller starts over
			return err
		}
	}
	if mode.IsRegular() {
		l.files = append(l.files, rel)
	} else {
		l.pass(rel)
	}
	return nil
}

// sortKey makes entries sort as their paths do: "a/b" comes after "a.md" although
// "a" comes before it.
func sortKey(entry fs.DirEntry) string {
	if entry.IsDir() {
		return entry.Name() + "/"
	}
	return entry.Name()
}
