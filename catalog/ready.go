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

// RootError reports a root that gives no skills, or only those that it listed last.
type RootError struct {
	// Finding says which root it is and why. Its code is CodeSourceFailed,
	// CodeUntrusted, CodeNoSkills or, where every skill of the root is broken, that of
	// the first.
	Finding skillmd.Diagnostic
	// Err is the error of the search, nil where there was none.
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

// Ready reports the roots that gave no skills in the last search. Such a root cannot be
// searched, is not trusted, holds no skill, or holds broken ones only. The error is nil if
// there is no such root, and holds a [RootError] for each otherwise. It is [ErrNoSkills] too
// if no other root has a skill. An optional root may be absent or empty, but not hold broken
// skills only. Ready judges the roots, not what an audience sees of them.
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

// rootError returns why a root gives no skills, nil if it does or need not.
func (c *Catalog) rootError(st *state, i int, root *rootState) error {
	usable := slices.ContainsFunc(root.found, func(f foundSkill) bool { return f.Usable })
	switch {
	case root.hasFailed():
		at := slices.IndexFunc(root.diagnostics, isSourceFailed)
		return &RootError{root.diagnostics[at], root.fault}
	case root.isUntrusted:
		found := c.untrustedFinding(i, nil, st.roots[:i])
		if found == nil {
			return nil // an earlier root of the project tells it
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

// firstError is the place of the first finding of the root that is an error, -1 for none.
func (s *rootState) firstError() int {
	return slices.IndexFunc(s.diagnostics, func(d skillmd.Diagnostic) bool { return d.Severity == skillmd.Error })
}

// isIncomplete reports whether a finding says that something of the root could not be searched.
func (s *rootState) isIncomplete() bool {
	return slices.ContainsFunc(s.diagnostics, func(d skillmd.Diagnostic) bool {
		return d.Severity > skillmd.Info && isLogged(d)
	})
}

// lostRoots returns a [RootError] for each directory that could be searched once and cannot be
// searched any more.
func (c *Catalog) lostRoots(st *state) error {
	var errs []error
	for i, root := range st.roots {
		if c.isOwn(i) && root.hasFailed() {
			errs = append(errs, c.rootError(st, i, root))
		}
	}
	return errors.Join(errs...)
}

// isUnreported reports an error that no diagnostic tells.
func isUnreported(err error) bool {
	_, told := errors.AsType[*RootError](err)
	return err != nil && !told
}
