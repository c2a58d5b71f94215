package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/satchel-go/satchel/skillmd"
)

// CodeUntrusted says that the skills of a project were not searched, because the user has not
// trusted it.
const CodeUntrusted skillmd.Code = "untrusted-root"

// WithTrust sets who says whether a root in scope [Project] may be opened. It is asked
// at each search, and about roots that are there only; an error counts as no. The
// default says no to all. See [TrustFile].
func WithTrust(trust func(ctx context.Context, root Root) (bool, error)) Option {
	return func(c *config) { c.trust = trust }
}

// Project returns the directory of the project that the root belongs to: for roots of
// [Discover] the project's, else the root's own.
func (r Root) Project() string {
	if r.project != "" {
		return r.project
	}
	return r.path
}

// isTrusted reports whether a root may be opened. A root that is not there may be.
func (c *Catalog) isTrusted(ctx context.Context, r Root) (trusted bool, err error) {
	if r.scope != Project {
		return true, nil
	}
	if !r.isNamed() {
		if _, err := os.Stat(r.path); err != nil && errors.Is(cause(err), fs.ErrNotExist) { // nor below a file
			return true, nil
		}
	}
	if c.cfg.trust == nil {
		return false, nil
	}
	return c.cfg.trust(ctx, r)
}

// untrusted says that roots of a project were not opened: once for each project.
func (c *Catalog) untrusted(i int, err error, before []*sourced) []skillmd.Diagnostic {
	project := c.roots[i].Project()
	if c.roots[i].isNamed() {
		project = c.roots[i].name
	}
	told := slices.ContainsFunc(before, func(s *sourced) bool { return s.untrusted && s.project == project })
	if told {
		return nil
	}
	text := fmt.Sprintf("project skills below %s are not trusted: not searched", printable(project))
	if err != nil {
		text += " (" + printable(err.Error()) + ")"
	}
	return []skillmd.Diagnostic{{File: c.names[i], Code: CodeUntrusted, Severity: skillmd.Warning, Message: text}}
}
