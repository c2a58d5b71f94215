package catalog

import (
	"errors"
	"fmt"
	"slices"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/skillmd"
)

// ErrNoSkills reports a catalog whose roots hold no skill at all.
var ErrNoSkills = errors.New("there are no skills")

// RootError reports a root without skills, or with those of an earlier search only.
type RootError struct {
	// Finding names the root and the reason. Its code is CodeSourceFailed, CodeUntrusted,
	// CodeNoSkills, or that of the first error in the root's files.
	Finding skillmd.Diagnostic
	// Err is the error of the search, or nil.
	Err error
}

// Error names the root and what is wrong with it.
func (e *RootError) Error() string {
	if e.Finding.File == "" {
		return e.Finding.Message
	}
	return e.Finding.File + ": " + e.Finding.Message
}

// Unwrap returns Err.
func (e *RootError) Unwrap() error { return e.Err }

// Ready returns an error if a root gave no skills in the last search. Such a root cannot be
// searched, is not trusted, holds no skill, or holds broken ones only. The error holds a
// [RootError] for each such root. It also wraps [ErrNoSkills] if the catalog has no skill at all.
// An optional root may be absent or empty, but not hold broken skills only. Audiences make no
// difference.
func (c *Catalog) Ready() error {
	st := c.state.Load()
	var errs []error
	for i, root := range st.roots {
		if e := c.rootError(st, i, root); e != nil {
			errs = append(errs, e)
		}
	}
	switch {
	case errs == nil:
		return nil
	case len(st.snapshot.skills) == 0:
		return fmt.Errorf("%w: %w", ErrNoSkills, errors.Join(errs...))
	}
	return errors.Join(errs...)
}

// rootError returns why root i gives no skills, or nil if it has some or needs none.
func (c *Catalog) rootError(st *state, i int, root *rootState) error {
	usable := slices.ContainsFunc(root.found, func(f foundSkill) bool { return f.Usable })
	switch {
	case root.hasFailed():
		at := slices.IndexFunc(root.diagnostics, isSourceFailed)
		return &RootError{root.diagnostics[at], root.fault}
	case root.isUntrusted:
		found := c.untrustedFinding(i, nil, st.roots[:i])
		if found == nil {
			return nil // the error about an earlier root names the project
		}
		return &RootError{Finding: found[0]}
	case usable, root.isRepeat:
		return nil
	case root.firstError() >= 0:
		return &RootError{Finding: root.diagnostics[root.firstError()]}
	case !root.wasSearched(), len(root.found) > 0, c.places[i].Optional && !root.isIncomplete():
		return nil
	}
	return &RootError{Finding: scan.NoSkills(c.names[i], c.roots[i].String())}
}

// firstError returns the index of the root's first diagnostic that is an error, or -1.
func (s *rootState) firstError() int {
	return slices.IndexFunc(s.diagnostics, func(d skillmd.Diagnostic) bool { return d.Severity == skillmd.Error })
}

// isIncomplete reports whether a diagnostic says that a part of the root could not be searched.
func (s *rootState) isIncomplete() bool {
	return slices.ContainsFunc(s.diagnostics, func(d skillmd.Diagnostic) bool {
		return d.Severity > skillmd.Info && isLogged(d)
	})
}

// lostRoots returns a [RootError] for each directory or file system that cannot be searched any
// more.
func (c *Catalog) lostRoots(st *state) error {
	var errs []error
	for i, root := range st.roots {
		if c.isOwn(i) && root.hasFailed() {
			errs = append(errs, c.rootError(st, i, root))
		}
	}
	return errors.Join(errs...)
}

// isUnreported reports whether err is an error that no diagnostic reports.
func isUnreported(err error) bool {
	_, isReported := errors.AsType[*RootError](err)
	return err != nil && !isReported
}
