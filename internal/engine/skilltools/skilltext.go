package skilltools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/skillargs"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// skillText holds the texts that a load reads from the catalog and pins.
type skillText struct {
	skill      core.Skill
	body       catalog.Content
	rendered   catalog.Content // body with the arguments; the zero value if both are the same
	arguments  string
	docs       []docText
	all        bool
	known      []string           // all docs of the skill, if the call names docs
	unreadable []tools.ModelError // why named docs are left out
	// noHeading are errors for named sections that the docs do not have, by the name in the call.
	noHeading map[string]tools.ModelError
	// namesDocs reports that the call names docs.
	namesDocs bool
	// selected are the docs that were selected before, if the body has changed. A new body is
	// delivered with all its docs.
	selected []docText
	// unmet are the needs of the skill that are not met, in words.
	unmet []string
	// listing follows the body, "" for none. framed is how many of docs the body names.
	listing catalog.Content
	framed  int
}

type docText struct {
	name    string
	content catalog.Content
	// framed reports that the body names the doc.
	framed bool
	// place is where a section is in its doc, nil for a doc.
	place *state.SectionPlace
}

// loadedAs returns the skill that is loaded under a name, even if the name now means another
// skill. Its Name is the name under which it is loaded.
func loadedAs(skills *catalog.Snapshot, rec *state.Record, name string) (core.Skill, bool) {
	a := rec.Find(name)
	if a == nil || a.ID == "" {
		return core.Skill{}, false
	}
	skill, err := skills.Resolve(a.ID)
	skill.Name = a.Skill
	return skill, err == nil
}

// ResolveFor resolves a name for the agent of rec: to the skill that is loaded under it, or else
// to the skill in the catalog. If the skill is loaded, its Name is the name under which it is
// loaded.
func ResolveFor(skills *catalog.Snapshot, rec *state.Record, name string) (core.Skill, error) {
	if skill, ok := loadedAs(skills, rec, name); ok {
		return skill, nil
	}
	skill, err := skills.Resolve(name)
	if err == nil {
		skill.Name = loadName(rec, skill)
	}
	return skill, err
}

// loadName returns the name under which a skill is or will be loaded. It is not the name of
// another loaded skill.
func loadName(rec *state.Record, skill core.Skill) string {
	if a := rec.FindID(skill.ID); a != nil {
		return a.Skill
	}
	for _, name := range []string{skill.Name, skill.Qualified} {
		if a := rec.Find(name); a == nil || a.ID == "" || a.ID == skill.ID {
			return name
		}
	}
	return skill.ID
}

// Skill resolves the name of a skill that the model may see: one that is not hidden, or is
// loaded. The error is a [tools.ModelError] that names similar skills.
func (s *Scope) Skill(rec *state.Record, name string) (core.Skill, error) {
	if skill, ok := loadedAs(s.Catalog().Snapshot(), rec, name); ok {
		return skill, nil
	}
	return s.resolveVisible(rec, name, false)
}

// skillToLoad is [Scope.Skill] for a load. If the name now means another skill than the loaded
// one, it returns that other skill. It fetches a skill that is fetched on demand.
func (s *Scope) skillToLoad(ctx context.Context, rec *state.Record, name string) (core.Skill, error) {
	skill, err := s.resolveVisible(rec, name, true)
	if held, ok := loadedAs(s.Catalog().Snapshot(), rec, name); ok && err != nil {
		skill, err = held, nil
	}
	if err != nil || !skill.OnDemand {
		return skill, err
	}
	return s.fetch(ctx, rec, skill, name)
}

// resolveVisible resolves a name in the catalog. loads reports that the call loads the skill.
func (s *Scope) resolveVisible(rec *state.Record, name string, loads bool) (core.Skill, error) {
	snapshot := s.Catalog().Snapshot()
	skill, err := snapshot.Resolve(name)
	if ambiguous, ok := errors.AsType[*catalog.AmbiguousError](err); ok {
		return core.Skill{}, tools.ModelErrorf("%s", ambiguous)
	}
	if err == nil {
		switch {
		case rec.Find(skill.ID) != nil: // loaded under its id, because another skill has its name too
			skill.Name = skill.ID
		case !loads || skill.Name != name: // a load under the name of another loaded skill supersedes that skill
			skill.Name = loadName(rec, skill)
		default:
			if a := rec.FindID(skill.ID); a != nil {
				skill.Name = a.Skill
			}
		}
	}
	if err == nil && (!skill.Hidden || rec.Find(skill.Name) != nil) {
		return skill, nil
	}
	if err == nil {
		if why := snapshot.WhyHidden(skill.ID); why != "" {
			return core.Skill{}, lacking(name, why)
		}
	}
	return core.Skill{}, unknownSkill(name, s.Catalog().Suggest(name))
}

// LoadedCatalog returns the catalog in which each loaded skill has the name and the revision with
// which it was loaded.
func (s *Scope) LoadedCatalog(rec *state.Record) *catalog.Catalog {
	revisions, called := make(map[string]string), make(map[string]string)
	for i := range rec.Active {
		a := &rec.Active[i]
		if a.ID != "" && a.Revision != "" {
			revisions[a.ID] = a.Revision
		}
		if a.ID != "" {
			called[a.Skill] = a.ID
		}
	}
	return s.Catalog().WithNames(called).AtRevisions(revisions)
}

// ByDigest returns the skill with this base name whose body now has a digest with this prefix. ok
// is false unless there is exactly one.
func ByDigest(ctx context.Context, skills *catalog.Catalog, name, digest string) (core.Skill, bool) {
	var found core.Skill
	fit := 0
	for _, skill := range skills.Snapshot().Skills() {
		if skill.Name != name && state.BaseName(skill.Qualified) != state.BaseName(name) {
			continue
		}
		if _, body, err := skills.Body(ctx, skill.ID); err == nil && digest != "" && strings.HasPrefix(body.Digest, digest) {
			found = skill
			fit++
		}
	}
	found.Name = name
	return found, fit == 1
}

// inView finds a skill whose load has ended but whose text is still in view. name is the name
// under which it was loaded, or a name that now means it.
func (s *Scope) inView(ctx context.Context, rec *state.Record, name string) (core.Skill, bool) {
	meant, err := s.Skill(rec, name)
	if err == nil && rec.Find(meant.Name) != nil {
		return core.Skill{}, false
	}
	another := false // another skill was loaded under this name
	for i := range rec.Deliveries {
		d := &rec.Deliveries[i]
		if !d.Body || !s.shows(d) || state.BaseName(d.Skill) != state.BaseName(name) || rec.Find(d.Skill) != nil {
			continue
		}
		if digest, e := s.Digest(ctx, meant.ID); err == nil && e == nil && digest == rec.Full(d.Digest) {
			meant.Name = d.Skill
			return meant, true
		}
		skill, ok := ByDigest(ctx, s.Catalog(), d.Skill, rec.Full(d.Digest))
		if ok && !skill.Hidden && d.Skill == name {
			return skill, true
		}
		another = another || ok && d.Skill == meant.Name
	}
	return meant, err == nil && !another && s.showsBody(rec, meant.Name) // its text has changed
}

// mayReload reports whether a call may reload a skill whose load has ended. In mode Turn it may
// only do so within the turn of the load.
func (s *Scope) mayReload(rec *state.Record, name string) bool {
	return s.KeepsTexts && (s.Mode != loadmode.Turn || slices.ContainsFunc(rec.Deliveries, func(d state.Delivery) bool {
		return d.Turn == rec.Turn && state.BaseName(d.Skill) == state.BaseName(name)
	}))
}

// findReadable resolves the name of a skill whose files may be read: it is loaded, or load mode
// Adaptive has left its text in view.
func findReadable(ctx context.Context, s *Scope, rec *state.Record, name string) (core.Skill, error) {
	if s.mayReload(rec, name) {
		if skill, ok := s.inView(ctx, rec, name); ok {
			return skill, nil
		}
	}
	skill, err := s.Skill(rec, name)
	if err == nil && rec.Find(skill.Name) == nil {
		err = NotLoaded(skill.Name)
	}
	return skill, err
}

// readSkill reads and pins a skill's body, and the named docs that it has.
func readSkill(ctx context.Context, s *Scope, name, arguments string, docs []string, all bool) (skillText, error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return skillText{}, err
	}
	skill, err := s.skillToLoad(ctx, rec, name)
	if err != nil {
		return skillText{}, err
	}
	return readSkillText(ctx, s, skill, arguments, docs, all)
}

// readSkillText is readSkill for a resolved skill.
func readSkillText(ctx context.Context, s *Scope, skill core.Skill, arguments string, docs []string, all bool) (skillText, error) {
	t := skillText{skill: skill, arguments: arguments, all: all, namesDocs: len(docs) > 0 && !all}
	s = s.withName(skill)
	var err error
	if t.skill, t.body, err = s.Catalog().Body(ctx, skill.Name); err != nil {
		return t, readError(ctx, err, "skill %q cannot be read", skill.Name)
	}
	if err := s.Pin(ctx, t.body); err != nil {
		return t, err
	}
	t.unmet = s.Unmet(ctx, t.skill)
	if err := t.render(ctx, s); err != nil {
		return t, err
	}
	selected, err := s.selectedBefore(ctx, skill.Name, &t)
	if err != nil {
		return t, err
	}
	if !all && len(docs)+len(selected) == 0 {
		return t, t.addReferences(ctx, s)
	}
	if t.known, err = s.Catalog().Docs(ctx, skill.Name); err != nil {
		return t, readError(ctx, err, "docs of %q cannot be listed", skill.Name)
	}
	for _, ref := range docRefs(selected, t.known) { // docs that the skill no longer has are dropped
		read, err := readDocs(ctx, s, s.Catalog(), skill, t.known, []docRef{ref})
		if err != nil {
			return t, err
		}
		t.selected = append(t.selected, read.docs...)
	}
	want := wholeDocs(t.known)
	if !all {
		want = docRefs(docs, t.known)
	}
	read, err := readDocs(ctx, s, s.Catalog(), skill, t.known, want)
	if err != nil {
		return t, err
	}
	t.docs, t.unreadable, t.noHeading = read.docs, read.unreadable, read.noHeading
	return t, t.addReferences(ctx, s)
}

// hasArguments reports whether the load has arguments.
func (t *skillText) hasArguments() bool { return strings.TrimSpace(t.arguments) != "" }

// render puts the arguments into the body, and pins the result if it differs from the body. The
// error is a [tools.ModelError] if the arguments cannot be used.
func (t *skillText) render(ctx context.Context, s *Scope) (err error) {
	t.rendered, err = Rendered(t.skill, t.body, t.arguments)
	if errors.Is(err, skillargs.ErrArguments) {
		return tools.ModelErrorf("skill %q: %v", t.skill.Name, err)
	}
	if err != nil || t.rendered.Digest == "" {
		return err
	}
	return s.Pin(ctx, t.rendered)
}

// Rendered returns the body of a skill with arguments in place of its placeholders, or the zero
// value if that is the body itself. The error wraps [skillargs.ErrArguments].
func Rendered(skill core.Skill, body catalog.Content, arguments string) (catalog.Content, error) {
	if arguments == "" && !strings.Contains(body.Text, "$") {
		return catalog.Content{}, nil
	}
	text, err := skillargs.Render(body.Text, skillargs.Declared{Names: skill.Arguments, Takes: skill.ArgumentHint != ""}, arguments)
	if err != nil || text == body.Text {
		return catalog.Content{}, err
	}
	return catalog.Content{Text: text, Digest: session.Digest(text)}, nil
}

// withName returns a scope with a catalog in which the skill's name means this skill.
func (s *Scope) withName(skill core.Skill) *Scope {
	return s.WithCatalog(s.Catalog().WithNames(map[string]string{skill.Name: skill.ID}))
}

// selectedBefore returns the docs that were selected with an earlier body of a loaded skill, or with
// other arguments.
func (s *Scope) selectedBefore(ctx context.Context, skill string, t *skillText) ([]string, error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return nil, err
	}
	old, loaded := rec.Body(skill)
	isOther := old != t.body.Digest || t.hasArguments() && rec.Rendered(skill) != t.rendered.Digest
	if a := rec.Find(skill); a != nil && loaded && isOther {
		return a.Docs, nil
	}
	return nil, nil
}

// Digest returns the digest of the body that a load of a skill would deliver now. Errors for the
// model are [tools.ModelError]s.
func (s *Scope) Digest(ctx context.Context, skill string) (string, error) {
	_, body, err := s.Catalog().Body(ctx, skill)
	if err != nil {
		return "", readError(ctx, err, "skill %q cannot be read", skill)
	}
	return body.Digest, nil
}

// readError converts an error of the catalog to a [tools.ModelError], unless ctx has ended.
func readError(ctx context.Context, err error, format string, args ...any) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, catalog.ErrUnknownSkill) {
		return tools.ModelErrorf("the skill is no longer there")
	}
	return tools.ModelErrorf("%s: %s", fmt.Sprintf(format, args...), printable.CutLine(cause(err), 400))
}

// cause returns the text of the innermost error, because the outer errors repeat names that the
// answer already has.
func cause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

func quotedList(names []string) string {
	var q []string
	for _, n := range names {
		q = append(q, fmt.Sprintf("%q", n))
	}
	return strings.Join(q, " or ")
}

// jsonList returns at most n names as a JSON array, and says how many more there are. It escapes
// format characters, such as overrides of the text direction.
func jsonList(names []string, n int) string {
	if names == nil {
		names = []string{}
	}
	more := ""
	if len(names) > n {
		more = fmt.Sprintf(" and %d more", len(names)-n)
		names = names[:n]
	}
	b, _ := json.Marshal(names) // strings always marshal
	return printable.Lines(string(b)) + more
}
