package catalog

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/satchel-go/satchel/skillmd"
)

// scanLive lists the skills of a tree for a catalog, which reads their files as they
// are when it needs them. It parses the SKILL.md files that have changed since prev.
// Trees that it opens are closed by the catalog.
func (s *TreeSource) scanLive(ctx context.Context, prev *Listing) (*Listing, error) {
	var last liveTree
	if prev != nil {
		last = *prev.live
	}
	root := s.root
	var findings []skillmd.Diagnostic
	if root.archive != nil {
		var err error
		if root, findings, err = s.unpacked(ctx); err != nil {
			return nil, err
		}
	}
	t, err := openTree(root, last.tree)
	if err != nil {
		return nil, fmt.Errorf("catalog: open root %q: %w", s.root, err)
	}
	if t == nil {
		next := &Listing{live: &liveTree{}}
		if why := root.absent(); why != "" {
			next.Diagnostics = []skillmd.Diagnostic{{File: s.name, Code: CodeSourceFailed, Severity: skillmd.Error, Message: "skills cannot be listed: " + why}}
		}
		if prev != nil && last.tree == nil && slices.Equal(prev.Diagnostics, next.Diagnostics) {
			return prev, nil
		}
		return next, nil
	}
	sc := &scanner{cfg: s.cfg, tree: t, name: s.name, dirName: s.root.dirName(), base: s.root.absolute(), known: last.known, now: time.Now(), follows: !root.inArchive}
	out, links, err := s.search(ctx, sc, last.links)
	if err != nil {
		if t != last.tree {
			t.close()
		}
		return nil, fmt.Errorf("catalog: search root %q: %w", s.root, err)
	}
	files := len(out.found)
	if most := s.cfg.maxInArchive; root.inArchive && files > most {
		out.note(sc.limit("the archive has %d skills: those beyond %d are left out", files, most))
		out.found = out.found[:most]
	}
	if len(findings) > 0 {
		out.diagnostics = append(findings, out.diagnostics...)
	}
	called := ""
	if s.root.plugin != "" {
		var fault error
		if called, fault = readManifest(s.root); fault != nil {
			out.diagnostics = append([]skillmd.Diagnostic{s.pluginFinding(fault)}, out.diagnostics...)
		}
	}
	kept := called == last.called && slices.Equal(out.dirs, last.dirs) && t == last.tree && prev != nil && len(out.found) == len(prev.Entries) && int(sc.kept.Load()) == files &&
		slices.EqualFunc(links, last.links, func(a, b *linked) bool { return a.name == b.name && a.tree == b.tree && slices.Equal(a.dirs, b.dirs) })
	if kept && reflect.DeepEqual(out.diagnostics, prev.Diagnostics) {
		return prev, nil
	}
	next := &Listing{
		Entries:     make([]Entry, len(out.found)),
		Diagnostics: out.diagnostics,
		live:        &liveTree{tree: t, known: make(map[string]record, len(out.found)), links: links, called: called, dirs: out.dirs},
	}
	for i := range out.found {
		f := &out.found[i]
		next.Entries[i] = Entry{ID: f.dir, live: f}
		if f.linked == nil {
			next.live.known[f.file] = f.record
		}
	}
	return next, nil
}

// search searches a tree, and what the links directly below it lead to.
func (s *TreeSource) search(ctx context.Context, sc *scanner, last []*linked) (scan, []*linked, error) {
	out, err := sc.run(ctx)
	if err != nil {
		return scan{}, nil, err
	}
	own := len(out.diagnostics)
	links, err := s.followLinks(ctx, sc, &out, last)
	if err != nil {
		return scan{}, nil, err
	}
	if len(out.diagnostics) > own {
		slices.SortStableFunc(out.diagnostics, func(a, b skillmd.Diagnostic) int { return strings.Compare(a.File, b.File) })
	}
	return out, links, nil
}
