package scan

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/satchel-go/satchel/skillmd"
)

// Live lists the skills of a place for a catalog. It reads only SKILL.md files. The catalog reads
// the other files of a skill when it needs them.
type Live struct {
	Config Config
	Place  Place
	Name   string // stands in front of locations
}

// Listing holds the skills of a place at one moment. It never changes.
type Listing struct {
	Found       []*Found
	Diagnostics []skillmd.Diagnostic
	Tree        Tree               // nil for a directory that does not exist
	Known       map[string]*Record // those of Found, by file
	Links       []*Link            // the links that were followed, by name
	// PluginName is the name of a plugin, "" for other places.
	PluginName string
	// Dirs are the directories that were searched, those nearest to the root first.
	Dirs []string
}

// Scan lists the skills. It parses the SKILL.md files that have changed since prev, and returns
// prev itself if nothing has. The caller closes the trees of a listing.
func (s *Live) Scan(ctx context.Context, prev *Listing) (*Listing, error) {
	var last Listing
	if prev != nil {
		last = *prev
	}
	place := s.Place
	var findings []skillmd.Diagnostic
	if place.Unpack != nil {
		var err error
		if place, findings, err = place.Unpacked(ctx, s.Name); err != nil {
			return nil, err
		}
	}
	t, err := OpenTree(place, last.Tree)
	if err != nil {
		return nil, fmt.Errorf("catalog: open root %q: %w", s.Place, err)
	}
	if t == nil {
		next := &Listing{}
		if why := place.whyAbsent(); why != "" {
			next.Diagnostics = []skillmd.Diagnostic{{File: s.Name, Code: CodeSourceFailed, Severity: skillmd.Error, Message: "skills cannot be listed: " + why}}
		}
		if prev != nil && last.Tree == nil && slices.Equal(prev.Diagnostics, next.Diagnostics) {
			return prev, nil
		}
		return next, nil
	}
	sc := &Scanner{Config: s.Config, Tree: t, Name: s.Name, DirName: s.Place.DirName(), Base: s.Place.Absolute(), Known: last.Known, Now: time.Now(), leavesLinks: !place.inArchive}
	out, links, err := s.search(ctx, sc, last.Links)
	if err != nil {
		if t != last.Tree {
			t.Close()
		}
		return nil, fmt.Errorf("catalog: search root %q: %w", s.Place, err)
	}
	files := len(out.Found)
	if most := s.Config.MaxInArchive; place.inArchive && files > most {
		out.note(sc.Limit("the archive has %d skills: those beyond %d are left out", files, most))
		out.Found = out.Found[:most]
	}
	if len(findings) > 0 {
		out.Diagnostics = append(findings, out.Diagnostics...)
	}
	called := ""
	if s.Place.Plugin != "" {
		var fault error
		if called, fault = readManifest(s.Place); fault != nil {
			out.Diagnostics = append([]skillmd.Diagnostic{s.pluginFinding(fault)}, out.Diagnostics...)
		}
	}
	kept := called == last.PluginName && slices.Equal(out.Dirs, last.Dirs) && t == last.Tree && prev != nil && len(out.Found) == len(prev.Found) && int(sc.unchanged.Load()) == files &&
		slices.EqualFunc(links, last.Links, func(a, b *Link) bool { return a.Name == b.Name && a.Tree == b.Tree && slices.Equal(a.Dirs, b.Dirs) })
	if kept && reflect.DeepEqual(out.Diagnostics, prev.Diagnostics) {
		return prev, nil
	}
	next := &Listing{
		Found: out.Found, Diagnostics: out.Diagnostics,
		Tree: t, Known: make(map[string]*Record, len(out.Found)), Links: links, PluginName: called, Dirs: out.Dirs,
	}
	for _, f := range out.Found {
		if f.Link == nil {
			next.Known[f.File] = &f.Record
		}
	}
	return next, nil
}

// search searches a tree, and the targets of the links directly below it.
func (s *Live) search(ctx context.Context, sc *Scanner, last []*Link) (Result, []*Link, error) {
	out, err := sc.Run(ctx)
	if err != nil {
		return Result{}, nil, err
	}
	own := len(out.Diagnostics)
	links, err := s.followLinks(ctx, sc, &out, last)
	if err != nil {
		return Result{}, nil, err
	}
	if len(out.Diagnostics) > own {
		slices.SortStableFunc(out.Diagnostics, func(a, b skillmd.Diagnostic) int { return strings.Compare(a.File, b.File) })
	}
	return out, links, nil
}

// Unpacked fetches an archive and returns the place of its files. If the archive cannot be
// fetched, it returns an earlier copy with a finding. name stands in front of its locations.
func (p Place) Unpacked(ctx context.Context, name string) (Place, []skillmd.Diagnostic, error) {
	dir, stale, err := p.Unpack(ctx)
	if err != nil {
		return Place{}, nil, err
	}
	p.Unpack, p.Name, p.Path, p.inArchive = nil, "", dir, true
	if stale == nil {
		return p, nil, nil
	}
	return p, []skillmd.Diagnostic{{
		File: name, Code: CodeStale, Severity: skillmd.Warning,
		Message: "the archive that was fetched last is used: " + Printable(stale.Error()),
	}}, nil
}
