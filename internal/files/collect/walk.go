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
	tree  Tree
	pats  patterns
	globs []string // as they were given
	of    []int    // the glob of each pattern
	limit int      // files to keep
	notes *notes

	found   []string // at most twice limit, unsorted
	dropped int      // files beyond the limit
	hit     []bool   // patterns that matched something, or about which there is a warning
	entries int
	work    int
	stopped bool
}

// files returns the names of the first files that match, sorted.
func (w *walk) files(ctx context.Context) ([]string, error) {
	w.hit = make([]bool, len(w.pats))
	if err := w.dir(ctx, ".", w.pats.start()); err != nil {
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

// noteMisses warns about the globs that match no file, if the search was
// complete. Names of single files are noteMiss's business.
func (w *walk) noteMisses() {
	for i, glob := range w.globs {
		missed := !w.stopped
		for n, p := range w.pats {
			if w.of[n] == i && (w.hit[n] || p.isPath()) {
				missed = false
			}
		}
		if missed {
			w.notes.add(glob, "matches no file")
		}
	}
}

// dir searches a directory, which is "." or a slash path.
func (w *walk) dir(ctx context.Context, dir string, states []state) error {
	if len(states) == 0 || w.stopped {
		return ctx.Err()
	}
	var below []entry
	if names, ok := w.pats.names(states); ok {
		for _, name := range names {
			w.visit(dir, name, states, &below)
		}
	} else if err := w.list(ctx, dir, states, &below); err != nil {
		return err
	}
	slices.SortFunc(below, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	for _, e := range below {
		if strings.Count(e.name, "/") >= maxDepth-1 {
			w.notes.add(e.name, "not searched: it is more than %d directories deep", maxDepth)
			continue
		}
		if err := w.dir(ctx, e.name, e.states); err != nil {
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

// list visits everything in a directory.
func (w *walk) list(ctx context.Context, dir string, states []state, below *[]entry) error {
	f, err := openDir(w.tree, dir)
	if errors.Is(err, ErrIrregular) { // it was a directory a moment ago
		w.notes.add(dir, "not searched: it was exchanged")
		return nil
	}
	if err != nil {
		return w.trouble(dir, err)
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
			return w.trouble(dir, err)
		}
	}
}

// trouble makes a warning of an error that prevents the search of a directory;
// for the top directory it returns the error.
func (w *walk) trouble(dir string, err error) error {
	if dir == "." {
		return fmt.Errorf("search workspace: %w", err)
	}
	w.notes.add(dir, "not searched: %v", plainfile.Cause(err))
	return nil
}

// visit looks at one name in a directory. It skips files that are being staged at
// the same time.
func (w *walk) visit(dir, name string, states []state, below *[]entry) {
	if plainfile.IsTemporary(name) || !w.spend(name, states) {
		return
	}
	next := w.pats.step(states, name)
	if len(next.below) == 0 && len(next.whole) == 0 {
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
	for _, i := range next.whole {
		w.hit[i] = true
	}
	relevant := next.named || len(next.whole) > 0
	switch {
	case err != nil:
		w.notes.add(full, "not collected: %v", plainfile.Cause(err))
	case plainfile.CheckElement(name) != nil:
		w.notes.add(full, "not collected: %v", plainfile.CheckElement(name))
	case info.IsDir():
		if len(next.below) > 0 {
			*below = append(*below, entry{full, next.below})
		} else if next.named {
			w.notes.add(full, "is a directory; %s/** matches all files in it", full)
		}
	case info.Mode()&fs.ModeSymlink != 0 && relevant:
		w.notes.add(full, "not collected: symbolic links are not followed")
		w.sayAll(next.below)
	case len(next.whole) > 0:
		if err := plainfile.CheckFile(info); err != nil {
			w.notes.add(full, "not collected: %v", err)
			return
		}
		w.keep(full)
	}
}

// sayAll marks patterns about which a warning was given.
func (w *walk) sayAll(states []state) {
	for _, s := range states {
		w.hit[s.pattern] = true
	}
}

// spend accounts for the matching of a name and reports whether the search may go
// on.
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

// keep adds a file and drops those that are certainly beyond the limit.
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
