// Package outputs collects the files that a command left in a workspace: it
// finds them by globs, tells their types, and reads text within limits. The
// workspace is hostile: what is in it was put there by a program that a model
// chose.
package outputs

import (
	"context"
	"fmt"
	"os"
)

const (
	// MaxInlineFile is the most that is inlined of one file: 4 MiB.
	MaxInlineFile = 4 << 20
	// MaxInlineTotal is the most that one Collection inlines: 64 MiB.
	MaxInlineTotal = 64 << 20

	maxGlobs = 64
	// maxPatterns bounds what all globs of a Spec stand for together.
	maxPatterns = 128
)

// Collection is what [Collect] found.
type Collection struct {
	// Files are sorted by name, byte by byte.
	Files []File
	// Warnings say what was left out and why. There are at most 21.
	Warnings []Warning
}

// Collect finds the regular files below root that a glob of spec matches, each
// once, and reads as much of them as spec asks for.
//
// It looks only where a glob can match: a glob without wildcards costs the
// same in a directory of any size. Symbolic links are never followed, neither
// to files nor to directories, wherever they lead: a file counts under its own
// name. Links, pipes, sockets, devices, files with a second hard link, and names
// that are not one line of UTF-8 are left out with a warning and without being
// opened, and so is what vanishes or is exchanged meanwhile; what is being staged
// meanwhile is passed over. Collect does not
// wait for any file, looks at 100,000 names at most, and has in memory what it
// inlines, the part of one file that it is about to inline, and 32 KiB.
//
// Errors: [ErrPattern] and [ErrSpec] for what spec asks, the error of ctx, and
// trouble with root itself. All other trouble is a warning.
func Collect(ctx context.Context, root *os.Root, spec Spec) (Collection, error) {
	spec, err := spec.complete()
	if err != nil {
		return Collection{}, err
	}
	pats, err := parseGlobs(spec.Globs)
	if err != nil {
		return Collection{}, err
	}
	n := &notes{}
	w := &walk{root: root, pats: pats, limit: spec.MaxFiles, notes: n}
	names, err := w.files(ctx)
	if err != nil {
		return Collection{}, err
	}
	c := Collection{}
	r := &reading{
		root: root, notes: n, inline: spec.Inline,
		each: min(spec.MaxFileBytes, MaxInlineFile), left: min(spec.MaxTotalBytes, MaxInlineTotal),
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return Collection{}, err
		}
		if f, ok := r.file(name); ok {
			c.Files = append(c.Files, f)
		}
	}
	if r.short {
		n.add("max_total_bytes", "the contents of some files are left out or cut")
	}
	c.Warnings = n.list()
	return c, nil
}

func parseGlobs(globs []string) (patterns, error) {
	if len(globs) > maxGlobs {
		return nil, fmt.Errorf("%w: %d globs, at most %d are allowed", ErrPattern, len(globs), maxGlobs)
	}
	var all patterns
	for _, glob := range globs {
		_, ps, err := parseGlob(glob)
		if err != nil {
			return nil, err
		}
		all = append(all, ps...)
	}
	if len(all) > maxPatterns {
		return nil, fmt.Errorf("%w: the globs stand for %d patterns, at most %d are allowed", ErrPattern, len(all), maxPatterns)
	}
	return all, nil
}
