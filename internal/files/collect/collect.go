// Package collect collects the files that a command left in a workspace: it finds
// them by globs, detects their types, and reads text within limits. The workspace
// is hostile: a program that a model chose has put its contents there.
package collect

import (
	"context"
	"fmt"
)

// Collection is what [Collect] found.
type Collection struct {
	// Files are sorted by name, byte by byte.
	Files []File
	// Warnings say which files were left out and why. There are at most 21.
	Warnings []Warning
}

// Collect finds the regular files of tree that match a glob of spec, each once, and reads as
// much of them as spec asks for.
//
// It searches only directories in which a glob can match. A glob without wildcards costs the
// same in a directory of any size. Collect never follows symbolic links: a file counts under
// its own name only. Links, pipes, sockets, devices, files with a second hard link, and names
// that are not one line of UTF-8 are left out. So are files that vanish or are replaced during
// the search. Each gives a warning, and none is opened. Temporary files of a staging call are
// skipped. Collect waits for no file, and looks at 100,000 names at most. It holds in memory
// the inlined contents, a part of one more file, and 32 KiB.
//
// Errors are [ErrPattern] and [ErrSpec] if spec is invalid, the error of ctx, and errors of
// tree itself. All other problems are warnings.
func Collect(ctx context.Context, tree Tree, spec Spec) (Collection, error) {
	spec, err := spec.complete()
	if err != nil {
		return Collection{}, err
	}
	pats, globOf, err := parseGlobs(spec.Globs)
	if err != nil {
		return Collection{}, err
	}
	n := &notes{}
	w := &walk{tree: tree, pats: pats, globs: spec.Globs, globOf: globOf, limit: spec.MaxFiles, notes: n}
	names, err := w.search(ctx)
	if err != nil {
		return Collection{}, err
	}
	c := Collection{}
	r := &reader{
		tree: tree, notes: n, inline: spec.Inline,
		maxFile: bound(spec.MaxFileBytes, MaxInlineFile, spec.InlineFile), maxTotal: bound(spec.MaxTotalBytes, MaxInlineTotal, spec.InlineTotal),
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return Collection{}, err
		}
		if f, ok := r.read(name); ok {
			c.Files = append(c.Files, f)
		}
	}
	if r.hasCut {
		n.add("max_total_bytes", "the contents of some files are left out or cut")
	}
	c.Warnings = n.list()
	return c, nil
}

// parseGlobs returns the patterns of all globs. globOf holds for each pattern the index of its
// glob.
func parseGlobs(globs []string) (all patterns, globOf []int, err error) {
	if len(globs) > maxGlobs {
		return nil, nil, fmt.Errorf("%w: %d globs, at most %d are allowed", ErrPattern, len(globs), maxGlobs)
	}
	for i, glob := range globs {
		ps, err := parseGlob(glob)
		if err != nil {
			return nil, nil, err
		}
		for range ps {
			globOf = append(globOf, i)
		}
		all = append(all, ps...)
	}
	if len(all) > maxPatterns {
		return nil, nil, fmt.Errorf("%w: the globs stand for %d patterns, at most %d are allowed", ErrPattern, len(all), maxPatterns)
	}
	return all, globOf, nil
}

// Warning tells the model which file was left out and why. A command chose the name in it. A
// caller that removes secrets from the name must do so before it calls String, which cuts and
// quotes the name.
type Warning struct {
	// Name is the file, pattern or limit that the warning is about. It is empty if the warning
	// is about several.
	Name string
	// Text is the rest of the sentence.
	Text string
}

// String returns the sentence. It quotes the first 200 characters of the name.
func (w Warning) String() string {
	if w.Name == "" {
		return w.Text
	}
	return fmt.Sprintf("%.200q: %s", w.Name, w.Text)
}

// notes gathers warnings, each about one file or pattern.
type notes struct {
	warnings []Warning
	more     int
}

func (n *notes) add(name, format string, args ...any) {
	if len(n.warnings) == maxNotes {
		n.more++
		return
	}
	n.warnings = append(n.warnings, Warning{name, fmt.Sprintf(format, args...)})
}

func (n *notes) list() []Warning {
	if n.more == 0 {
		return n.warnings
	}
	more := Warning{Text: fmt.Sprintf("and %d more warnings like these", n.more)}
	return append(n.warnings[:len(n.warnings):len(n.warnings)], more)
}
