package catalog

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/skillmd"
)

// sourced is what is kept of a root, from one search to the next.
type sourced struct {
	listing *Listing // nil where nothing could be listed yet
	scan    scan
	records map[string]listedRecord // by id, of skills that are not live
	// repeats is set where the directory is that of an earlier root.
	repeats bool
	// untrusted is set where the root was not opened, and project is where it is.
	untrusted bool
	project   string
	// fault is why the root could not be searched, nil where it could.
	fault error
}

type listedRecord struct {
	revision string
	record
}

// qualifier is the name of a root in qualified names and ids.
func (c *Catalog) qualifier(i int, root *sourced) string {
	switch r := c.roots[i]; {
	case r.called != nil:
		return *r.called
	case root.listing != nil && root.listing.live != nil && root.listing.live.called != "":
		return root.listing.live.called
	}
	return c.names[i]
}

// tree is the tree that the skills are in, nil where each has one of its own.
func (s *sourced) tree() tree {
	if s == nil || s.listing == nil || s.listing.live == nil {
		return nil
	}
	return s.listing.live.tree
}

// trees are the trees that the root has opened, those of links included.
func (s *sourced) trees() []tree {
	t := s.tree()
	if t == nil {
		return nil
	}
	all := []tree{t}
	for _, l := range s.listing.live.links {
		all = append(all, l.tree)
	}
	return all
}

// isThere reports whether the root could be searched.
func (s *sourced) isThere() bool {
	return !s.failed() && !s.repeats && !s.untrusted && (s.listing.live == nil || s.listing.live.tree != nil)
}

// searchRoot lists the skills of a root. One that fails, or takes longer than it may,
// keeps what it listed last; a directory that cannot be searched the first time is an
// error, unless it is optional.
func (c *Catalog) searchRoot(ctx context.Context, i int, old *sourced) (*sourced, error) {
	var prev *Listing
	if old != nil {
		prev = old.listing
	}
	own := c.roots[i].source == nil && c.roots[i].archive == nil
	limited, cancel := ctx, context.CancelFunc(func() {})
	if c.roots[i].source != nil { // an archive has its own limit
		limited, cancel = context.WithTimeout(ctx, c.cfg.scanTimeout)
	}
	defer cancel()
	listed, err := c.sources[i].Scan(limited, prev)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil && listed == nil {
		err = errors.New("the source returned no listing")
	}
	switch {
	case err != nil && own && !c.roots[i].optional && c.state.Load() == nil:
		return nil, err
	case err != nil:
		return c.sourceFailed(i, old, err), nil
	case old != nil && listed == prev && !old.failed() && !old.repeats:
		return old, nil
	}
	return c.parseListing(i, listed, old), nil
}

// sourceFailed keeps what a root listed last, and says so.
func (c *Catalog) sourceFailed(i int, old *sourced, err error) *sourced {
	s := &sourced{}
	if old != nil {
		*s = *old
	}
	s.fault = err
	text := "skills cannot be listed: "
	if len(s.scan.found) > 0 {
		text = "skills cannot be listed, so those listed last are used: "
	}
	s.scan.diagnostics = append(slices.DeleteFunc(slices.Clone(s.scan.diagnostics), isSourceFailed), skillmd.Diagnostic{
		File: c.names[i], Code: CodeSourceFailed, Severity: skillmd.Error,
		Message: text + printable(err.Error()),
	})
	return s
}

func isSourceFailed(d skillmd.Diagnostic) bool { return d.Code == CodeSourceFailed }

func (s *sourced) failed() bool { return s.fault != nil }

// parseLive takes the skills of a tree, which the scanner has parsed, sorted and bounded.
func parseLive(listed *Listing) *sourced {
	s := &sourced{listing: listed, scan: scan{found: make([]found, len(listed.Entries)), diagnostics: listed.Diagnostics}}
	for n := range listed.Entries {
		s.scan.found[n] = *listed.Entries[n].live
	}
	return s
}

// parseListing makes skills of entries. What is known of the same revision is not
// parsed again.
func (c *Catalog) parseListing(i int, listed *Listing, old *sourced) *sourced {
	if listed.live != nil {
		return parseLive(listed)
	}
	s := &sourced{listing: listed, records: make(map[string]listedRecord, len(listed.Entries))}
	p := &scanner{cfg: c.cfg, name: c.names[i]}
	s.scan.diagnostics = slices.Clone(listed.Diagnostics)
	entries := listed.Entries
	if len(entries) > maxListed {
		s.scan.note(p.limit("the source lists %d skills: those beyond %d are left out", len(entries), maxListed))
		entries = entries[:maxListed]
	}
	for n := range entries {
		e := &entries[n]
		fault := e.fault()
		if _, twice := s.records[e.ID]; twice && fault == "" {
			fault = "its id is that of another skill"
		}
		if fault != "" {
			id := strings.ToValidUTF8(e.ID[:min(len(e.ID), maxEntryID)], "\uFFFD")
			s.scan.note(p.diagnostic(skillmd.Error, CodeUnreadable, id, "ignored: "+fault))
			continue
		}
		var known listedRecord
		if old != nil {
			known = old.records[e.ID]
		}
		if known.revision != e.Revision {
			known = listedRecord{e.Revision, p.parse(".", path.Join(e.ID, e.skillFileOf()), e.Head)}
		}
		s.records[e.ID] = known
		s.scan.diagnostics = append(s.scan.diagnostics, known.diagnostics...)
		s.scan.found = append(s.scan.found, found{dir: ".", file: e.skillFileOf(), entry: e, record: known.record})
	}
	slices.SortFunc(s.scan.found, func(a, b found) int { return strings.Compare(a.entry.ID, b.entry.ID) })
	slices.SortStableFunc(s.scan.diagnostics, func(a, b skillmd.Diagnostic) int { return strings.Compare(a.File, b.File) })
	return s
}
