package catalog

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/skillmd"
)

// rootState is the result of searching one root. The next search compares it with the new one.
type rootState struct {
	listing *source.Listing // of a source; nil before its first successful Scan
	live    *scan.Listing   // of any other root
	found   []foundSkill
	// diagnostics are the findings about the root, ordered by file.
	diagnostics []skillmd.Diagnostic
	records     map[string]listedRecord // by id, of skills of a source
	isRepeat    bool                    // an earlier root is the same directory
	isUntrusted bool                    // the root was not opened
	project     string                  // the project of an untrusted root
	fault       error                   // why the root could not be searched, or nil
}

// foundSkill is a SKILL.md file that was read and parsed.
type foundSkill struct {
	*scan.Found
	entry   *source.Entry // of a skill of a source, whose tree is opened for each use
	fetched *fetchedSkill // nil if the front matter is known
}

// listedRecord is the parsed front matter of one revision of a skill of a source.
type listedRecord struct {
	revision string
	found    *scan.Found
	fetched  *fetchedSkill // nil if the front matter is known
}

// qualifier returns the name of root i in qualified names and ids.
func (c *Catalog) qualifier(i int, root *rootState) string {
	if name, ok, err := c.roots[i].Name(); ok && err == nil {
		return name
	}
	if root.live != nil && root.live.PluginName != "" {
		return root.live.PluginName
	}
	return c.names[i]
}

// tree returns the tree with the skills, or nil if each skill has a tree of its own.
func (s *rootState) tree() scan.Tree {
	if s == nil || s.live == nil {
		return nil
	}
	return s.live.Tree
}

// trees returns the trees that the root has opened, including those of links.
func (s *rootState) trees() []scan.Tree {
	t := s.tree()
	if t == nil {
		return nil
	}
	all := []scan.Tree{t}
	for _, l := range s.live.Links {
		all = append(all, l.Tree)
	}
	return all
}

// wasSearched reports whether the root could be searched.
func (s *rootState) wasSearched() bool {
	return !s.hasFailed() && !s.isRepeat && !s.isUntrusted && (s.live == nil || s.live.Tree != nil)
}

// searchRoot lists the skills of root i. If that fails or takes too long, the root keeps the
// skills of the last search. A directory or file system that fails in the first search of the
// catalog is an error, unless it is optional.
func (c *Catalog) searchRoot(ctx context.Context, i int, old *rootState) (*rootState, error) {
	next, same, err := c.listRoot(ctx, i, old)
	if ctx.Err() != nil {
		if err == nil && !same {
			closeTrees([]*rootState{next}, []*rootState{old})
		}
		return nil, ctx.Err()
	}
	switch {
	case err != nil && c.isOwn(i) && !c.places[i].Optional && c.state.Load() == nil:
		return nil, err
	case err != nil:
		return c.sourceFailed(i, old, err), nil
	case same && !old.hasFailed() && !old.isRepeat:
		return old, nil
	}
	return next, nil
}

// isOwn reports whether root i is a directory or a file system. Only for these does a failed
// search return an error to the caller.
func (c *Catalog) isOwn(i int) bool { return !c.places[i].IsSource && c.places[i].Unpack == nil }

// listRoot lists the skills of root i. same reports that nothing has changed since old.
func (c *Catalog) listRoot(ctx context.Context, i int, old *rootState) (next *rootState, same bool, err error) {
	src := c.roots[i].Source()
	if src == nil { // an archive has its own limit
		var prev *scan.Listing
		if old != nil {
			prev = old.live
		}
		l := scan.Live{Config: c.cfg.scan, Place: c.places[i], Name: c.names[i]}
		live, err := l.Scan(ctx, prev)
		if err != nil {
			return nil, false, err
		}
		return parseLive(live), old != nil && live == prev, nil
	}
	var prev *source.Listing
	if old != nil {
		prev = old.listing
	}
	limited, cancel := context.WithTimeout(ctx, c.cfg.scan.ScanTimeout)
	defer cancel()
	listed, err := src.Scan(limited, prev)
	if err == nil && listed == nil {
		err = errors.New("the source returned no listing")
	}
	if err != nil {
		return nil, false, err
	}
	if old != nil && listed == prev && !old.hasFailed() && !old.isRepeat {
		return old, true, nil
	}
	return c.parseListing(limited, i, listed, old), false, nil
}

// sourceFailed returns the old state of root i with a finding about err.
func (c *Catalog) sourceFailed(i int, old *rootState, err error) *rootState {
	s := &rootState{}
	if old != nil {
		*s = *old
	}
	s.fault = err
	text := "skills cannot be listed: "
	if len(s.found) > 0 {
		text = "skills cannot be listed, so those listed last are used: "
	}
	s.diagnostics = append(slices.DeleteFunc(slices.Clone(s.diagnostics), isSourceFailed), skillmd.Diagnostic{
		File: c.names[i], Code: CodeSourceFailed, Severity: skillmd.Error,
		Message: text + scan.Printable(err.Error()),
	})
	return s
}

func isSourceFailed(d skillmd.Diagnostic) bool { return d.Code == CodeSourceFailed }

func (s *rootState) hasFailed() bool { return s.fault != nil }

// parseLive returns the state of a root from the listing of its tree.
func parseLive(listed *scan.Listing) *rootState {
	s := &rootState{live: listed, found: make([]foundSkill, len(listed.Found)), diagnostics: listed.Diagnostics}
	for n := range listed.Found {
		s.found[n].Found = listed.Found[n]
	}
	return s
}

// parseListing returns the state of root i from the listing of its source. It parses only
// revisions that old does not have.
func (c *Catalog) parseListing(ctx context.Context, i int, listed *source.Listing, old *rootState) *rootState {
	s := &rootState{listing: listed, records: make(map[string]listedRecord, len(listed.Entries))}
	p := &scan.Scanner{Config: c.cfg.scan, Name: c.names[i]}
	s.diagnostics = slices.Clone(listed.Diagnostics)
	entries := listed.Entries
	if len(entries) > maxListed {
		s.note(p.Limit("the source lists %d skills: those beyond %d are left out", len(entries), maxListed))
		entries = entries[:maxListed]
	}
	for n := range entries {
		e := &entries[n]
		fault := e.Fault()
		if _, twice := s.records[e.ID]; twice && fault == "" {
			fault = "its id is that of another skill"
		}
		if fault != "" {
			id := strings.ToValidUTF8(e.ID[:min(len(e.ID), maxIDShown)], "\uFFFD")
			s.note(p.Diagnostic(skillmd.Error, CodeUnreadable, id, "ignored: "+fault))
			continue
		}
		var known listedRecord
		if old != nil {
			known = old.records[e.ID]
		}
		if known.revision != e.Revision || known.found == nil || known.found.File != e.SkillFile() {
			known = listedRecord{revision: e.Revision, found: &scan.Found{Dir: ".", File: e.SkillFile()}}
			known.found.Record, known.fetched = c.parseEntry(ctx, i, e)
		}
		s.records[e.ID] = known
		s.diagnostics = append(s.diagnostics, known.found.Diagnostics...)
		s.found = append(s.found, foundSkill{known.found, e, known.fetched})
	}
	slices.SortFunc(s.found, func(a, b foundSkill) int { return strings.Compare(a.entry.ID, b.entry.ID) })
	slices.SortStableFunc(s.diagnostics, func(a, b skillmd.Diagnostic) int { return strings.Compare(a.File, b.File) })
	return s
}

func (s *rootState) note(d skillmd.Diagnostic) { s.diagnostics = append(s.diagnostics, d) }

// parseEntry parses the front matter of an entry of root i. It also reads agents/openai.yaml, if the
// entry lists that file and its source is not remote. fetched is not nil if the files of the entry
// must be fetched before its fields are known.
func (c *Catalog) parseEntry(ctx context.Context, i int, e *source.Entry) (rec scan.Record, fetched *fetchedSkill) {
	p := &scan.Scanner{Config: c.cfg.scan, Name: c.names[i]}
	rec = p.Parse(".", path.Join(e.ID, e.SkillFile()), e.Head)
	if rec.Usable && isFetchedWhole(e) {
		return c.parseCached(i, e, rec)
	}
	isListed := slices.ContainsFunc(e.Files, func(f source.File) bool { return f.Path == scan.AgentFile })
	if !rec.Usable || !isListed || e.OnDemand || e.Origin != "" {
		return rec, nil
	}
	var err error
	if p.Tree, err = openEntry(ctx, c.roots[i].Source(), e); err == nil { // an entry that lists its files has no error
		p.ReadAgentFile(".", e.ID, &rec)
		_ = p.Tree.Close()
	}
	return rec, nil
}
