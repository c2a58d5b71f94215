package catalog

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxListedDirs bounds the directories that one listing of a skill reads.
const maxListedDirs = 5_000

// listing walks the files of one skill in the bytewise order of their paths,
// so that a cut listing is the beginning of the whole one. Links to
// directories are not followed; links to files are listed when they lead to a
// regular file of the root.
type listing struct {
	tree     tree
	base     string          // directory of the skill
	others   map[string]bool // directories of skills; their files are not this skill's
	enter    func(dir string) bool
	take     func(name string) bool
	limit    int // files
	maxDepth int

	files []string
	dirs  int
	cut   bool // something was left out
	// passed are the first entries that are no files to list: links that lead
	// to a directory, nowhere or out of the root, pipes, and unusable names.
	passed []string
}

// maxPassed bounds what is told of passed entries.
const maxPassed = 20

func (l *listing) pass(rel string) {
	if len(l.passed) < maxPassed {
		l.passed = append(l.passed, rel)
	}
}

func newListing(st *state, p place, limit, maxDepth int) *listing {
	return &listing{
		tree:     st.trees[p.root],
		base:     p.dir,
		others:   st.skillDirs[p.root],
		limit:    limit,
		maxDepth: maxDepth,
	}
}

// walk lists the folder rel of the skill, "" for the skill's own. Only the
// skill's own directory must be readable.
func (l *listing) walk(ctx context.Context, rel string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir := l.base
	if rel != "" {
		dir = below(l.base, rel)
	}
	if l.dirs++; depth > l.maxDepth || l.dirs > maxListedDirs {
		l.cut = true
		return nil
	}
	entries, cut, err := l.tree.readDir(dir, maxEntries)
	if err != nil {
		if rel == "" || isClosed(err) {
			return err
		}
		l.cut = true
		return nil
	}
	l.cut = l.cut || cut
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

// visit takes a file or enters a folder; file is its path in the tree.
func (l *listing) visit(ctx context.Context, entry fs.DirEntry, rel, file string, depth int) error {
	if entry.IsDir() {
		if !l.others[file] && l.enter(rel) {
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

// sortKey puts the files of a folder where their paths sort: "a/b" comes after
// "a.md", although "a" comes before it.
func sortKey(entry fs.DirEntry) string {
	if entry.IsDir() {
		return entry.Name() + "/"
	}
	return entry.Name()
}
