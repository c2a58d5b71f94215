package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// walk searches a workspace for the files that match patterns. It goes through
// each directory at most once, and only where a pattern can still match.
type walk struct {
	tree   Tree
	pats   patterns
	globs  []string
	globOf []int // by pattern: the index of its glob
	limit  int   // files to keep
	notes  *notes

	found   []string // at most twice limit, unsorted
	dropped int      // files beyond the limit
	hit     []bool   // by pattern: a name matched it, or there is a warning about it
	entries int
	work    int
	stopped bool // a bound ended the search
}

// search returns the names of the first files that match, sorted.
func (w *walk) search(ctx context.Context) ([]string, error) {
	w.hit = make([]bool, len(w.pats))
	if err := w.searchDir(ctx, ".", w.pats.start()); err != nil {
		return nil, err
	}
	w.shrink()
	for i, p := range w.pats {
		w.noteMiss(p, w.hit[i])
	}
	w.noteMisses()
	if w.dropped > 0 {
		w.notes.add("max_files", "%d more files matched; only the first %d by name are collected", w.dropped, w.limit)
	}
	return w.found, nil
}

// noteMiss warns why a pattern that names one file has no file.
func (w *walk) noteMiss(p pattern, hit bool) {
	if hit || w.stopped || !p.isPath() {
		return
	}
	if len(p) == 0 {
		w.notes.add(".", "is the workspace; ** matches all files in it")
		return
	}
	w.notes.add(p.String(), "no such file")
}

// noteMisses warns about globs with wildcards that match no file, if the search was complete.
// noteMiss does that for globs without wildcards.
func (w *walk) noteMisses() {
	for i, glob := range w.globs {
		missed := !w.stopped
		for n, p := range w.pats {
			if w.globOf[n] == i && (w.hit[n] || p.isPath()) {
				missed = false
			}
		}
		if missed {
			w.notes.add(glob, "matches no file")
		}
	}
}

// searchDir searches a directory, which is "." or a slash path.
func (w *walk) searchDir(ctx context.Context, dir string, states []state) error {
	if len(states) == 0 || w.stopped {
		return ctx.Err()
	}
	var below []entry
	if names, ok := w.pats.names(states); ok {
		for _, name := range names {
			w.visit(dir, name, states, &below)
		}
	} else if err := w.visitAll(ctx, dir, states, &below); err != nil {
		return err
	}
	slices.SortFunc(below, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	for _, e := range below {
		if strings.Count(e.name, "/") >= maxDepth-1 {
			w.notes.add(e.name, "not searched: it is more than %d directories deep", maxDepth)
			continue
		}
		if err := w.searchDir(ctx, e.name, e.states); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// entry is a directory that is still to be searched.
type entry struct {
	name   string
	states []state
}

// visitAll visits all names in a directory.
func (w *walk) visitAll(ctx context.Context, dir string, states []state, below *[]entry) error {
	f, err := openDir(w.tree, dir)
	if errors.Is(err, ErrIrregular) { // a command has replaced the directory
		w.notes.add(dir, "not searched: it was exchanged")
		return nil
	}
	if err != nil {
		return w.noteUnreadable(dir, err)
	}
	defer f.Close()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, err := f.ReadDir(listBatch)
		for _, e := range entries {
			if w.stopped {
				return nil
			}
			w.visit(dir, e.Name(), states, below)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return w.noteUnreadable(dir, err)
		}
	}
}

// noteUnreadable turns an error that prevents the search of a directory into a warning;
// for the top directory it returns the error.
func (w *walk) noteUnreadable(dir string, err error) error {
	if dir == "." {
		return fmt.Errorf("search workspace: %w", err)
	}
	w.notes.add(dir, "not searched: %v", plainfile.Cause(err))
	return nil
}

// visit handles one name in a directory: it keeps a matching file, adds a directory to below, or
// warns. It skips temporary files of a staging call.
func (w *walk) visit(dir, name string, states []state, below *[]entry) {
	if plainfile.IsTemporary(name) || !w.spend(name, states) {
		return
	}
	next := w.pats.step(states, name)
	if len(next.below) == 0 && len(next.matched) == 0 {
		return
	}
	full := name
	if dir != "." {
		full = dir + "/" + name
	}
	info, err := w.tree.Lstat(full)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, i := range next.matched {
		w.hit[i] = true
	}
	relevant := next.isNamed || len(next.matched) > 0
	switch {
	case err != nil:
		w.notes.add(full, "not collected: %v", plainfile.Cause(err))
	case plainfile.CheckElement(name) != nil:
		w.notes.add(full, "not collected: %v", plainfile.CheckElement(name))
	case info.IsDir():
		if len(next.below) > 0 {
			*below = append(*below, entry{full, next.below})
		} else if next.isNamed {
			w.notes.add(full, "is a directory; %s/** matches all files in it", full)
		}
	case info.Mode()&fs.ModeSymlink != 0 && relevant:
		w.notes.add(full, "not collected: symbolic links are not followed")
		w.markNoted(next.below)
	case len(next.matched) > 0:
		if err := plainfile.CheckFile(info); err != nil {
			w.notes.add(full, "not collected: %v", err)
			return
		}
		w.keep(full)
	}
}

// markNoted marks patterns about which a warning was given.
func (w *walk) markNoted(states []state) {
	for _, s := range states {
		w.hit[s.pattern] = true
	}
}

// spend counts the work of matching a name, and reports whether the search may continue.
func (w *walk) spend(name string, states []state) bool {
	w.entries++
	for _, s := range states {
		if seg := w.pats[s.pattern][s.at]; seg.kind == wildcard {
			w.work += len(name) * len(seg.text)
		}
	}
	if w.entries <= maxEntries && w.work <= maxWork {
		return true
	}
	if !w.stopped {
		w.stopped = true
		w.notes.add("globs", "the search stopped after %d names: use narrower patterns", w.entries-1)
	}
	return false
}

// keep adds a file. It drops files beyond the limit from time to time.
func (w *walk) keep(name string) {
	w.found = append(w.found, name)
	if len(w.found) >= 2*w.limit {
		w.shrink()
	}
}

func (w *walk) shrink() {
	slices.Sort(w.found)
	if extra := len(w.found) - w.limit; extra > 0 {
		w.dropped += extra
		clear(w.found[w.limit:])
		w.found = w.found[:w.limit]
	}
}
