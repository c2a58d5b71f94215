package library

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/search"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// skillItem is a skill of the library or of a folder.
type skillItem struct {
	Descriptor
	// folder is the canonical id of a skill of a folder, "" for a skill of the library.
	folder string
}

// skills returns the skills of a view and those of folders in the catalog. They are sorted by name
// and then by id.
func (d *editor) skills(ctx context.Context, s *tools.Scope, v *view, all bool) ([]skillItem, error) {
	descriptors, err := v.list(ctx, ListQuery{All: all})
	if err != nil {
		return nil, err
	}
	skills := make([]skillItem, 0, len(descriptors))
	for _, one := range descriptors {
		skills = append(skills, skillItem{Descriptor: one})
	}
	for _, skill := range s.Catalog().Snapshot().Skills() {
		if !d.lists(&skill) {
			skills = append(skills, folderItem(skill))
		}
	}
	slices.SortFunc(skills, func(a, b skillItem) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return skills, nil
}

// lists reports whether a skill of the catalog is one that the library lists.
func (d *editor) lists(skill *core.Skill) bool { return d.Root != "" && skill.Source == d.Root }

// folderItem returns a skill of a folder.
func folderItem(skill core.Skill) skillItem {
	return skillItem{folder: skill.ID, Descriptor: Descriptor{
		ID: skill.ID, Source: "file", Name: skill.Name, DisplayName: cmp.Or(skill.Metadata["displayName"], skill.Name), Description: skill.Description,
		ModelInvocation: !skill.Hidden, State: stateActive, Reviewed: true, Shared: true, Front: skill,
	}}
}

// find resolves a canonical id or a name among the skills of a view and those of folders. The
// error is an Error.
func (d *editor) find(ctx context.Context, s *tools.Scope, v *view, ref string) (skillItem, error) {
	hits, err := d.called(ctx, s, v, ref)
	if err != nil {
		return skillItem{}, err
	}
	if len(hits) == 1 && hits[0].ID == ref {
		return hits[0], nil
	}
	if strings.HasPrefix(ref, "db:") { // one that no list shows, such as another's for a maintainer
		if sk, err := d.Library.Inspect(ctx, v.actor, Ref{Skill: ref}); err == nil {
			return skillItem{Descriptor: sk.Descriptor}, nil
		}
	}
	switch len(hits) {
	case 0:
		skills, err := d.skills(ctx, s, v, true)
		if err != nil {
			return skillItem{}, err
		}
		likely := s.Catalog().Suggest(ref)
		s.Emit(ctx, core.Event{Kind: core.SkillNotFound, Detail: printable.Cut(ref, 80), Skills: likely})
		return skillItem{}, unknownAmong(ref, likely, skills)
	case 1:
		return hits[0], nil
	}
	slices.SortFunc(hits, func(a, b skillItem) int { return strings.Compare(a.ID, b.ID) })
	e := refuse("ambiguous", errAmbiguous, "%q is the name of %d skills; use a canonicalId", ref, len(hits))
	for _, h := range hits {
		e.Candidates = append(e.Candidates, h.Descriptor)
	}
	return skillItem{}, e
}

// called returns the skill whose canonical id is ref, or else those of that name.
func (d *editor) called(ctx context.Context, s *tools.Scope, v *view, ref string) ([]skillItem, error) {
	key := skilltext.CleanName(ref)
	var hits []skillItem
	for id, i := range v.items {
		isIt := id == ref
		if !isIt && (i.head != nil && i.head.State == stateArchived || skilltext.CleanName(i.name()) != key) || !v.chooses(ListQuery{All: true}, i) {
			continue
		}
		described, err := v.describe(ctx, i)
		if err != nil {
			return nil, err
		}
		if isIt {
			return []skillItem{{Descriptor: described}}, nil
		}
		hits = append(hits, skillItem{Descriptor: described})
	}
	for _, skill := range s.Catalog().Snapshot().Skills() {
		switch {
		case d.lists(&skill):
		case skill.ID == ref:
			return []skillItem{folderItem(skill)}, nil
		case skilltext.CleanName(skill.Name) == key:
			hits = append(hits, folderItem(skill))
		}
	}
	return hits, nil
}

// unknownAmong returns the error for a skill that does not exist. The error suggests up to three
// skills: first those in likely, which come from the catalog, then those with similar names.
func unknownAmong(ref string, likely []string, skills []skillItem) error {
	ref = printable.Cut(ref, 80)
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
	return refuse("unknown", ErrUnknown, "%s", text)
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

// openSkill is a skill of the library or of a folder whose files can be read.
type openSkill struct {
	Descriptor
	list     []File
	warnings []string
	digest   string
	read     func(ctx context.Context, path string) ([]byte, error)
}

// open opens a skill of the library or of a folder.
func (d *editor) open(ctx context.Context, s *tools.Scope, a Actor, f skillItem, version string, serve bool) (*openSkill, error) {
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
	return &openSkill{Descriptor: sk.Descriptor, list: sk.Files, warnings: sk.Warnings, digest: sk.Digest, read: sk.Read}, nil
}

func (d *editor) openFolder(ctx context.Context, s *tools.Scope, f skillItem, version string) (*openSkill, error) {
	names, _, err := s.Catalog().Files(ctx, f.folder, maxFolderFiles)
	if err != nil {
		return nil, folderError(ctx, f, err)
	}
	o := &openSkill{Descriptor: f.Descriptor}
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
		return nil, invalid("%s has no versions; it is %s now", f.ID, o.VersionRef)
	}
	return o, nil
}

func folderError(ctx context.Context, f skillItem, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Error{code: "unavailable", Message: fmt.Sprintf("%s cannot be read: %v", f.ID, err)}
}

// searchSkills returns the skills that a search finds, the best first.
func searchSkills(skills []skillItem, phrasings []string) []skillItem {
	sources := make([]search.Source, len(skills))
	for i, f := range skills {
		sources[i] = search.Source{Key: f.ID + " " + f.VersionRef, Read: func() (search.Document, error) {
			return search.Document{Name: f.Name, Description: f.Description}, nil
		}}
	}
	out := []skillItem{}
	for _, hit := range search.Build(nil, sources).Search(search.Query{Phrasings: phrasings}) {
		out = append(out, skills[hit.Document])
	}
	return out
}
