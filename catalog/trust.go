package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/skillmd"
)

// WithTrust sets the function that says whether a root in scope [core.ScopeProject] may be opened.
// Each search calls it for the roots that exist; an error counts as no. By default no such root
// is opened. See [source.TrustFile].
func WithTrust(trust func(ctx context.Context, root source.Root) (bool, error)) Option {
	return func(c *config) error { c.trust = trust; return nil }
}

// isTrusted reports whether a root may be opened. A root that does not exist may be.
func (c *Catalog) isTrusted(ctx context.Context, r source.Root) (trusted bool, err error) {
	if r.Scope() != core.ScopeProject {
		return true, nil
	}
	if dir := r.Path(); dir != "" {
		_, err := os.Stat(dir)                                        //nolint:gosec // the host names it
		if err != nil && errors.Is(scan.Cause(err), fs.ErrNotExist) { // also if its parent is a file
			return true, nil
		}
	}
	if c.cfg.trust == nil {
		return false, nil
	}
	return c.cfg.trust(ctx, r)
}

// untrustedFinding returns the finding that root i was not opened. It returns nil if an earlier
// root in before already has the finding for the same project.
func (c *Catalog) untrustedFinding(i int, err error, before []*rootState) []skillmd.Diagnostic {
	project := c.roots[i].Project()
	if c.places[i].IsNamed() {
		project = c.roots[i].String()
	}
	if slices.ContainsFunc(before, func(s *rootState) bool { return s.isUntrusted && s.project == project }) {
		return nil
	}
	text := fmt.Sprintf("project skills below %s are not trusted: not searched", scan.Printable(project))
	if err != nil {
		text += " (" + scan.Printable(err.Error()) + ")"
	}
	return []skillmd.Diagnostic{{File: c.names[i], Code: CodeUntrusted, Severity: skillmd.Warning, Message: text}}
}
