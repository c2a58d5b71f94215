package library

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// found is a skill of the library or of a folder.
type found struct {
	Descriptor
	// folder is the id in the catalog of a skill that is not of the library.
	folder string
}

// shelf lists all skills of an actor, sorted by name and then by id: those of the
// library, and those of folders that the catalog has beside it.
func (d *editor) shelf(ctx context.Context, s *tools.Scope, a Actor, all bool) ([]found, error) {
	listed, err := d.Library.List(ctx, a, ListQuery{All: all})
	if err != nil {
		return nil, err
	}
	skills := make([]found, 0, len(listed))
	for _, l := range listed {
		skills = append(skills, found{Descriptor: l})
	}
	for _, skill := range s.Catalog().Snapshot().Skills() {
		if d.Root != "" && skill.Source == d.Root {
			continue
		}
		skills = append(skills, found{Descriptor: folderOf(skill), folder: skill.ID})
	}
	slices.SortFunc(skills, func(a, b found) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return skills, nil
}

func folderOf(skill core.Skill) Descriptor {
	return Descriptor{
		ID: skill.ID, Source: "file", Name: skill.Name, DisplayName: cmp.Or(skill.Metadata["displayName"], skill.Name), Description: skill.Description,
		ModelInvocation: !skill.Hidden, State: stateActive, Reviewed: true, Shared: true, Front: skill,
	}
}

// find resolves a canonical id or a name. The error is a Error.
func (d *editor) find(ctx context.Context, s *tools.Scope, a Actor, ref string) (found, error) {
	skills, err := d.shelf(ctx, s, a, true)
	if err != nil {
		return found{}, err
	}
	var hits []found
	key := skilltext.CleanName(ref)
	for _, f := range skills {
		if f.ID == ref {
			return f, nil
		}
		if f.State != stateArchived && skilltext.CleanName(f.Name) == key {
			hits = append(hits, f)
		}
	}
	if strings.HasPrefix(ref, "db:") { // one that no list shows, such as another's for a maintainer
		if sk, err := d.Library.Inspect(ctx, a, Ref{Skill: ref}); err == nil {
			return found{Descriptor: sk.Descriptor}, nil
		}
	}
	switch len(hits) {
	case 0:
		return found{}, unknownAmong(ref, s.Catalog().Suggest(ref), skills)
	case 1:
		return hits[0], nil
	}
	slices.SortFunc(hits, func(a, b found) int { return strings.Compare(a.ID, b.ID) })
	e := &Error{Code: "ambiguous", Message: fmt.Sprintf("%q is the name of %d skills; use a canonicalId", ref, len(hits))}
	for _, h := range hits {
		e.Candidates = append(e.Candidates, h.Descriptor)
	}
	return found{}, e
}

// unknownAmong names up to three skills that may have been meant: those of likely, the names that
// the catalog suggests, and then those whose names are like the one that does not exist.
func unknownAmong(ref string, likely []string, skills []found) error {
	ref = cut(ref, 80)
	var near []string
	add := func(means func(name string) bool) {
		for _, f := range skills {
			name := fmt.Sprintf("%q", f.Name)
			if f.ModelInvocation && f.State == stateActive && len(near) < 3 && !slices.Contains(near, name) && means(f.Name) {
				near = append(near, name)
			}
		}
	}
	if !strings.Contains(ref, ":") {
		for _, n := range likely {
			add(func(name string) bool { return skilltext.CleanName(name) == n })
		}
		add(func(name string) bool { return like(ref, name) })
	}
	text := fmt.Sprintf("unknown skill %q: find skills with action \"list\"", ref)
	if len(near) > 0 {
		text = fmt.Sprintf("unknown skill %q: did you mean %s?", ref, strings.Join(near, " or "))
	}
	return &Error{Code: "unknown", Message: text}
}

// like reports whether one name is part of the other, or one letter away from it.
func like(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(a) > 2 && (strings.Contains(b, a) || strings.Contains(a, b)) {
		return true
	}
	if len(a) < 3 || len(b) < 3 || len(a)-len(b) > 1 || len(b)-len(a) > 1 {
		return false
	}
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	left, right := len(a)-head-tail, len(b)-head-tail
	return max(left, right) <= 1 || left == 2 && right == 2 && a[head] == b[head+1] && a[head+1] == b[head]
}

// files is a skill as it is read: its files and one of them.
type files struct {
	Descriptor
	list     []File
	warnings []string
	digest   string
	read     func(ctx context.Context, path string) ([]byte, error)
}

// open opens a skill of the library or of a folder.
func (d *editor) open(ctx context.Context, s *tools.Scope, a Actor, f found, version string, serve bool) (*files, error) {
	if f.folder != "" {
		return d.openFolder(ctx, s, f, version)
	}
	get := d.Library.Inspect
	if serve {
		get = d.Library.Serve
	}
	sk, err := get(ctx, a, Ref{Skill: f.ID, Version: version})
	if err != nil {
		return nil, err
	}
	return &files{Descriptor: sk.Descriptor, list: sk.Files, warnings: sk.Warnings, digest: sk.Digest, read: sk.Read}, nil
}

func (d *editor) openFolder(ctx context.Context, s *tools.Scope, f found, version string) (*files, error) {
	names, _, err := s.Catalog().Files(ctx, f.folder, maxFolderFiles)
	if err != nil {
		return nil, folderError(ctx, f, err)
	}
	o := &files{Descriptor: f.Descriptor}
	if !slices.Contains(names, skillFile) {
		names = append([]string{skillFile}, names...)
	}
	slices.Sort(names)
	o.read = func(ctx context.Context, name string) ([]byte, error) {
		data, err := s.Catalog().ReadFile(ctx, f.folder, name)
		if err != nil {
			return nil, folderError(ctx, f, err)
		}
		return data, nil
	}
	var lines []byte
	for _, name := range names {
		data, err := o.read(ctx, name)
		if err != nil {
			return nil, err
		}
		digest := session.Digest(string(data))
		o.list = append(o.list, File{Path: name, Size: int64(len(data)), Digest: digest})
		lines = fmt.Appendf(lines, "%s\x00%s\n", name, digest)
	}
	o.digest = session.Digest(string(lines))
	o.VersionRef = "f-" + o.digest[:12]
	if version != "" && version != o.VersionRef {
		return nil, &Error{Code: "invalid", Message: fmt.Sprintf("%s has no versions; it is %s now", f.ID, o.VersionRef)}
	}
	return o, nil
}

func folderError(ctx context.Context, f found, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Error{Code: "unavailable", Message: fmt.Sprintf("%s cannot be read: %v", f.ID, err)}
}
