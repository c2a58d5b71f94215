package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// skillText is what a load reads from the catalog, pinned for the session.
type skillText struct {
	skill core.Skill
	body  catalog.Content
	docs  []docText
	all   bool
	known []string // every doc of the skill, where docs were named
	left  []tell   // why docs that were named are left out
	// selected are the docs selected before, where the body has changed since:
	// a new text of a skill comes with all that belongs to it.
	selected []docText
}

type docText struct {
	name    string
	content catalog.Content
}

// find resolves the name of a skill that the model may see: one that is not
// hidden, or that the host has loaded.
func find(s *Scope, rec *session.Record, name string) (core.Skill, error) {
	snapshot := s.Catalog.Snapshot()
	skill, ok := snapshot.Skill(name)
	if ok && (!skill.Hidden || rec.Find(skill.Name) != nil) {
		return skill, nil
	}
	if near := snapshot.Suggest(name); len(near) > 0 {
		return core.Skill{}, tellf("unknown skill %q: did you mean %s?", cut(name, 80), quotedList(near))
	}
	return core.Skill{}, tellf("unknown skill %q: use a name from the list of available skills", cut(name, 80))
}

// findLoaded resolves the name of a skill that is loaded.
func findLoaded(s *Scope, rec *session.Record, name string) (core.Skill, error) {
	skill, err := find(s, rec, name)
	if err == nil && rec.Find(skill.Name) == nil {
		err = notLoaded(skill.Name)
	}
	return skill, err
}

// readSkill reads and pins a skill's body and those of the named docs that it
// has.
func readSkill(ctx context.Context, s *Scope, name string, docs []string, all bool) (skillText, error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return skillText{}, err
	}
	skill, err := find(s, rec, name)
	if err != nil {
		return skillText{}, err
	}
	return readSkillText(ctx, s, skill, docs, all)
}

func readSkillText(ctx context.Context, s *Scope, skill core.Skill, docs []string, all bool) (skillText, error) {
	t := skillText{skill: skill, all: all}
	var err error
	if t.skill, t.body, err = s.Catalog.Body(ctx, skill.Name); err != nil {
		return t, unreadable(ctx, err, "skill %q cannot be read", skill.Name)
	}
	if err := s.Pin(ctx, t.body); err != nil {
		return t, err
	}
	if err := t.readSelected(ctx, s); err != nil {
		return t, err
	}
	if !all && len(docs) == 0 {
		return t, nil
	}
	if t.known, err = s.Catalog.Docs(ctx, skill.Name); err != nil {
		return t, unreadable(ctx, err, "docs of %q cannot be listed", skill.Name)
	}
	want := t.known
	if !all {
		want = known(docs, t.known)
	}
	t.docs, t.left, err = readDocs(ctx, s, skill.Name, want)
	return t, err
}

// readSelected reads the docs that were selected with an earlier text. One that
// is gone is no longer selected.
func (t *skillText) readSelected(ctx context.Context, s *Scope) error {
	rec, err := s.Record(ctx)
	if err != nil {
		return err
	}
	old, loaded := rec.Body(t.skill.Name)
	if a := rec.Find(t.skill.Name); a != nil && loaded && old != t.body.Digest {
		for _, name := range a.Docs {
			docs, _, err := readDocs(ctx, s, t.skill.Name, []string{name})
			if told := tell(""); err != nil && !errors.As(err, &told) {
				return err
			}
			t.selected = append(t.selected, docs...)
		}
	}
	return nil
}

// maxDocBytes bounds the docs that one call brings into view, in bytes.
const maxDocBytes = 1 << 20

// readDocs reads and pins docs. left says which are left out and why: one that
// cannot be read, or all of them where they are too much together.
func readDocs(ctx context.Context, s *Scope, skill string, names []string) (docs []docText, left []tell, err error) {
	total := 0
	for _, name := range names {
		c, err := s.Catalog.Doc(ctx, skill, name)
		if err != nil {
			err = unreadable(ctx, err, "doc %q of %q cannot be read", name, skill)
			told := tell("")
			if !errors.As(err, &told) {
				return nil, nil, err
			}
			left = append(left, told)
			continue
		}
		if total += len(c.Text); total > maxDocBytes {
			return nil, []tell{tell(fmt.Sprintf("the docs of %q are more than %d bytes together: name those that you need", skill, maxDocBytes))}, nil
		}
		docs = append(docs, docText{name, c})
	}
	for _, doc := range docs {
		if err := s.Pin(ctx, doc.content); err != nil {
			return nil, nil, err
		}
	}
	return docs, left, nil
}

// leftOut says which docs are left out.
func leftOut(r *reply, left []tell) {
	for i, told := range left {
		if i == maxNamed {
			r.after("error: %d more docs cannot be read", len(left)-i)
			return
		}
		r.after("error: %s", told)
	}
}

// withSelected returns the docs of t and those selected before.
func (t *skillText) withSelected() []docText {
	docs := slices.Clone(t.docs)
	for _, old := range t.selected {
		if !slices.ContainsFunc(docs, func(d docText) bool { return d.name == old.name }) {
			docs = append(docs, old)
		}
	}
	return docs
}

// deliverDocs adds to d those docs that are not in view with the same text, and
// returns their names. It changes rec where an earlier text of one is listed.
func (s *Scope) deliverDocs(rec *session.Record, d *session.Delivery, docs []docText) (added []string) {
	for _, doc := range docs {
		digest, listed := rec.DocIn(d.Skill, doc.name)
		if listed && digest == doc.content.Digest && s.showsDoc(rec, d.Skill, doc.name) {
			continue
		}
		switch {
		case listed && s.showsDoc(rec, d.Skill, doc.name):
			rec.SupersedeDoc(d.Skill, doc.name)
			d.Supersedes = true
		case listed:
			rec.DropDoc(d.Skill, doc.name) // what nobody sees can go at once
		}
		d.Docs = append(d.Docs, session.Doc{Name: doc.name, Digest: doc.content.Digest})
		added = append(added, doc.name)
	}
	return added
}

// unknownDocs says which of the named docs no skill of the call has.
func unknownDocs(r *reply, texts []skillText, docs []string) {
	unknown := 0
	for _, doc := range docs {
		if slices.ContainsFunc(texts, func(t skillText) bool { return slices.Contains(t.known, cleanPath(doc)) }) {
			continue
		}
		if unknown++; unknown <= maxNamed {
			r.after("error: %s", unknownDoc(texts[0].skill.Name, doc, texts[0].known))
		}
	}
	if unknown > maxNamed {
		r.after("error: %d more docs are unknown", unknown-maxNamed)
	}
}

func unknownDoc(skill, doc string, known []string) tell {
	has := "it has none"
	if len(known) > 0 {
		has = "its docs are " + jsonList(known, 40)
	}
	return tell(fmt.Sprintf("skill %q has no doc %q; %s", skill, cut(doc, 200), has))
}

// known returns the cleaned names that are docs, in the order asked for.
func known(names, docs []string) []string {
	var out []string
	for _, n := range names {
		if n = cleanPath(n); slices.Contains(docs, n) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// cleanPath brings a path that a model wrote to the catalog's form: "./x.md"
// and "x.md" are the same file.
func cleanPath(p string) string {
	return strings.TrimPrefix(path.Clean(p), "./")
}

// unreadable turns an error of the catalog into an answer, unless the run
// itself is over.
func unreadable(ctx context.Context, err error, format string, args ...any) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, catalog.ErrUnknownSkill) {
		return tellf("the skill is no longer there")
	}
	return tellf("%s: %s", fmt.Sprintf(format, args...), cut(cause(err), 400))
}

// cause is the innermost reason of an error: what is around it names again what
// the answer has named already.
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

// jsonList writes at most n names as a JSON array and says how many more
// there are.
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
	return string(b) + more
}
