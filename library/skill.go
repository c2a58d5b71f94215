package library

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// Skill is one version of a skill with its files.
type Skill struct {
	Descriptor
	Version int // 0 for the version in a plugin
	Digest  string
	Files   []File // sorted by path
	// Warnings say what is odd about it, such as "overlay-outdated".
	Warnings []string

	read func(ctx context.Context, f File) ([]byte, error)
}

// Read returns the bytes of a file, or ErrUnknown.
func (s *Skill) Read(ctx context.Context, path string) ([]byte, error) {
	for _, f := range s.Files {
		if f.Path == path {
			return s.read(ctx, f)
		}
	}
	return nil, fmt.Errorf("file %q: %w", path, ErrUnknown)
}

// ReadAll returns all files by their paths.
func (s *Skill) ReadAll(ctx context.Context) (map[string][]byte, error) {
	files := make(map[string][]byte, len(s.Files))
	for _, f := range s.Files {
		data, err := s.read(ctx, f)
		if err != nil {
			return nil, err
		}
		files[f.Path] = data
	}
	return files, nil
}

// item is a skill of a tenant: of the database, of a plugin, or of a plugin with an overlay.
type item struct {
	id   string
	head *parsedHead    // the skill of the database, or the overlay; nil without one
	base *packagedSkill // the skill of the plugin; nil without one
}

func (i *item) name() string {
	if i.head != nil {
		return i.head.Name
	}
	return i.base.skill.Name
}

// overlaid reports whether actors get the text of the head, not that of the plugin.
func (i *item) overlaid() bool { return i.head != nil && i.head.State != statePackaged }

// view holds the skills of a tenant at one moment, and what an actor may do with them.
type view struct {
	library *Library
	actor   Actor
	role    Role
	all     bool             // the private skills of all owners are visible
	items   map[string]*item // by canonical id
	unknown []*item          // the skills that Actor.Allow hides
}

func (l *Library) view(ctx context.Context, a Actor) (*view, error) {
	role, err := l.roleOf(ctx, a)
	if err != nil {
		return nil, err
	}
	return l.viewAs(ctx, &view{library: l, actor: a, role: role})
}

// viewAs reads the skills of the view's actor into v.
func (l *Library) viewAs(ctx context.Context, v *view) (*view, error) {
	a := v.actor
	heads, err := l.heads(ctx, a.Tenant)
	if err != nil {
		return nil, err
	}
	bases, err := l.packagedSkills(ctx, func(p *plugin) bool { return v.all || p.isShownTo(a) })
	if err != nil {
		return nil, err
	}
	v.items = make(map[string]*item, len(heads)+len(bases))
	for id, b := range bases {
		v.items[id] = &item{id: id, base: b}
	}
	for id, h := range heads {
		if h.Plugin == "" {
			v.items[id] = &item{id: id, head: h}
		} else if i := v.items[id]; i != nil { // a plugin that is gone takes its overlays along
			i.head = h
		}
	}
	for id, i := range v.items {
		if ok, err := v.allows(ctx, i); err != nil {
			return nil, err
		} else if !ok {
			delete(v.items, id)
			v.unknown = append(v.unknown, i)
		}
	}
	return v, nil
}

// packagedSkills returns the skills of the plugins for which shown returns true. A plugin that
// cannot be read keeps the skills of its last scan.
func (l *Library) packagedSkills(ctx context.Context, shown func(*plugin) bool) (map[string]*packagedSkill, error) {
	all := map[string]*packagedSkill{}
	for _, p := range l.plugins {
		if !shown(p) {
			continue
		}
		skills, err := p.scan(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			l.logger.Warn("the skills of a plugin cannot be listed, so those listed last are used", "plugin", p.ID, "error", err)
		}
		maps.Copy(all, skills)
	}
	return all, nil
}

// allows reports whether Actor.Allow allows the skill.
func (v *view) allows(ctx context.Context, i *item) (bool, error) {
	if v.actor.Allow == nil {
		return true, nil
	}
	d, err := v.describe(ctx, i)
	if isOwn(err) {
		return false, nil
	}
	skill := d.Front
	skill.ID, skill.Name, skill.Revision, skill.Editable, skill.Unreviewed = d.ID, d.Name, revisionOf(&d), true, !d.Reviewed
	return err == nil && v.actor.Allow(skill), err
}

func (v *view) owns(h *parsedHead) bool { return h.Owner == v.actor.Subject }

// sees reports whether the actor may see the skill by its id.
func (v *view) sees(i *item) bool {
	switch {
	case v.all || i.head == nil || i.head.Plugin != "":
		return true
	case v.owns(i.head) || v.role == roleMaintainer:
		return true
	}
	return i.head.Shared && i.head.State != stateDraft && (i.head.Served > 0 || v.role.rank() >= roleEditor.rank())
}

// lists reports whether the actor's lists show the skill and its name finds it.
func (v *view) lists(i *item) bool {
	if !v.sees(i) || i.head == nil {
		return v.sees(i)
	}
	if i.head.State == stateArchived {
		return false
	}
	return v.all || i.head.Plugin != "" || i.head.Shared || v.owns(i.head)
}

// served returns the version that the actor gets. Its editor and maintainers get the newest one,
// others get Head.Served.
func (v *view) served(h *parsedHead) int {
	if h.Served == h.Version || h.Editor == v.actor.Subject && v.actor.Subject != "" || v.role == roleMaintainer {
		return h.Version
	}
	return h.Served
}

// find resolves a canonical id or a name.
func (v *view) find(ctx context.Context, ref string) (*item, error) {
	ref = strings.TrimSpace(ref)
	if i := v.items[ref]; i != nil && v.sees(i) {
		return i, nil
	}
	if strings.HasPrefix(ref, "db:") || strings.HasPrefix(ref, "plugin:") {
		return nil, unknown(ref)
	}
	key := skilltext.CleanName(ref)
	var skillItem []*item
	for _, i := range v.items {
		if v.lists(i) && skilltext.CleanName(i.name()) == key {
			skillItem = append(skillItem, i)
		}
	}
	switch len(skillItem) {
	case 0:
		return nil, unknown(ref)
	case 1:
		return skillItem[0], nil
	}
	slices.SortFunc(skillItem, func(a, b *item) int { return strings.Compare(a.id, b.id) })
	e := refuse("ambiguous", errAmbiguous, "%q is the name of %d skills; use a canonicalId", ref, len(skillItem))
	for _, i := range skillItem {
		d, err := v.describe(ctx, i)
		if err != nil {
			return nil, err
		}
		e.Candidates = append(e.Candidates, d)
	}
	return nil, e
}

func unknown(ref string) *Error {
	return refuse("unknown", ErrUnknown, "unknown skill %q", printable.Cut(ref, 80))
}

// describe returns the descriptor of the version that the actor gets.
func (v *view) describe(ctx context.Context, i *item) (Descriptor, error) {
	if !i.overlaid() {
		return v.describeBase(i), nil
	}
	n := v.served(i.head)
	if n == i.head.Version {
		return v.describeHead(i, n, i.head.Digest, i.head.skill), nil
	}
	r, err := v.library.store.Load(ctx, v.actor.Tenant, i.id, n)
	if err != nil {
		return Descriptor{}, err
	}
	s := v.revision(i, r)
	text, err := s.Read(ctx, skillFile)
	if err != nil {
		return Descriptor{}, err
	}
	return v.describeHead(i, n, r.Digest, frontOf(text, i.head.Name)), nil
}

func (v *view) describeBase(i *item) Descriptor {
	d := i.base.describe()
	d.Editable = v.checkRole(i, actionPatch) == nil
	return d
}

func (v *view) describeHead(i *item, version int, digest string, front core.Skill) Descriptor {
	h := i.head
	d := Descriptor{
		ID: h.ID, Source: "db", Name: h.Name, Editable: v.checkRole(i, actionPatch) == nil, VersionRef: refOf(version, digest), State: h.State,
		Reviewed: version == h.Reviewed, Owner: h.Owner, Shared: h.Shared,
	}
	if i.base != nil {
		d.Source, d.Plugin = "plugin", i.base.origin()
		d.Outdated = h.BaseDigest != i.base.digest
	}
	return describe(d, front)
}

// revision returns the skill at a revision, without a descriptor.
func (v *view) revision(i *item, r Revision) *Skill {
	l, tenant := v.library, v.actor.Tenant
	return &Skill{Version: r.Version, Digest: r.Digest, Files: r.Files, read: func(ctx context.Context, f File) ([]byte, error) {
		data, err := l.store.Blob(ctx, tenant, f.Digest)
		if err == nil && sumOf(data) != f.Digest {
			err = fmt.Errorf("library: blob %.12s of %s is damaged", f.Digest, i.id)
		}
		return data, err
	}}
}

// open returns a version of a skill.
func (v *view) open(ctx context.Context, i *item, version string) (*Skill, error) {
	switch {
	case version == "base" || version == "" && !i.overlaid():
		if i.base == nil {
			return nil, invalid("%s is not packaged with a plugin: it has no base", i.id)
		}
		return v.openBase(i), nil
	case i.base != nil && version == i.base.ref():
		return v.openBase(i), nil
	case i.head == nil:
		return nil, invalid("there is no version %q of %s", version, i.id)
	}
	n := v.served(i.head)
	if version != "" {
		var err error
		digits, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), "-")
		if n, err = strconv.Atoi(digits); err != nil || n < 1 || !strings.HasPrefix(version, "v") {
			return nil, invalid(`there is no version %q: use v3, a versionRef or base`, version)
		}
		if n > i.head.Served && n != v.served(i.head) && !v.all && v.role.rank() < roleEditor.rank() && !v.owns(i.head) {
			return nil, invalid("there is no version %q of %s", version, i.id)
		}
	}
	r, err := v.library.store.Load(ctx, v.actor.Tenant, i.id, n)
	if errors.Is(err, ErrUnknown) {
		return nil, invalid("there is no version %q of %s", version, i.id)
	}
	if err != nil {
		return nil, err
	}
	if strings.Contains(version, "-") && version != refOf(r.Version, r.Digest) {
		return nil, invalid("there is no version %q of %s; version %d is %s", version, i.id, n, refOf(r.Version, r.Digest))
	}
	s := v.revision(i, r)
	front := i.head.skill
	if n != i.head.Version {
		text, err := s.Read(ctx, skillFile)
		if err != nil {
			return nil, err
		}
		front = frontOf(text, i.head.Name)
	}
	s.Descriptor = v.describeHead(i, n, r.Digest, front)
	s.Reviewed = s.Reviewed || r.ReviewedBy != ""
	if s.Outdated {
		s.Warnings = append(s.Warnings, string(codeOutdated)+": the plugin has another text now than the one that was edited")
	}
	return s, nil
}

func (v *view) openBase(i *item) *Skill {
	b := i.base
	return &Skill{Descriptor: v.describeBase(i), Digest: b.digest, Files: b.files, read: func(ctx context.Context, f File) ([]byte, error) {
		return b.read(ctx, f, v.library.limits.Total)
	}}
}

// Inspect returns a skill at Ref.Version. Without a version, actors who may edit the skill get the
// newest one, and others the one that is served. Archived skills are found by their id.
func (l *Library) Inspect(ctx context.Context, a Actor, ref Ref) (*Skill, error) {
	return l.open(ctx, a, ref, true)
}

// Serve returns the version of a skill that the actor's agents load.
func (l *Library) Serve(ctx context.Context, a Actor, ref Ref) (*Skill, error) {
	return l.open(ctx, a, ref, false)
}

func (l *Library) open(ctx context.Context, a Actor, ref Ref, archived bool) (*Skill, error) {
	for try := 0; ; try++ {
		v, err := l.view(ctx, a)
		if err != nil {
			return nil, err
		}
		i, err := v.find(ctx, ref.Skill)
		if err != nil {
			return nil, err
		}
		if !archived && i.head != nil && i.head.State == stateArchived {
			return nil, unknown(ref.Skill)
		}
		version := ref.Version
		if archived && version == "" && i.overlaid() && (v.role.rank() >= roleEditor.rank() || v.owns(i.head)) {
			version = fmt.Sprintf("v%d", i.head.Version)
		}
		s, err := v.open(ctx, i, version)
		if err != nil && isStale(err) && try < 3 {
			continue
		}
		return s, err
	}
}
