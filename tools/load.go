package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// Load is skill_load: it loads skills, with docs where the model names them.
func Load() Operation {
	return Operation{
		Name:        "skill_load",
		Description: "Load the full instructions of one or more skills. Do this before you rely on a skill.",
		Fields: []Field{
			{Name: "skill", Kind: Text, Description: "skill name from the list"},
			{Name: "skills", Kind: Texts, Description: "several names at once"},
			{Name: "docs", Kind: Texts, Description: "docs to load with it"},
			{Name: "include_all_docs", Kind: Flag},
			{Name: "mode", Kind: Text, Enum: []string{"add", "replace"}, Description: "replace unloads all other skills; default add"},
		},
		Always:   true,
		Changes:  true,
		Delivers: true,
		Call:     load,
	}
}

func load(ctx context.Context, s *Scope, args Args) (string, error) {
	names := slices.Clone(args.Texts("skill"))
	for _, n := range args.Texts("skills") {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return "", tellf(`name a skill, such as {"skill":"…"}`)
	}
	if s.Max > 0 && len(names) > s.Max {
		return "", tellf("%d skills in one call are more than the %d that can be loaded; load fewer", len(names), s.Max)
	}
	var r reply
	var texts []skillText
	for _, name := range names {
		t, err := readSkill(ctx, s, name, args.Texts("docs"), args.Flag("include_all_docs"))
		var told tell
		if errors.As(err, &told) {
			r.after("error: %s", told)
			continue
		}
		if err != nil {
			return "", err
		}
		texts = append(texts, t)
	}
	if len(texts) == 0 {
		return strings.Join(r.lines, "\n"), nil
	}
	unknownDocs(&r, texts, args.Texts("docs"))
	for _, t := range texts {
		leftOut(&r, t.left)
	}
	change := loading{scope: s, texts: texts, replace: args.Text("mode") == "replace"}
	return change.save(ctx, &r)
}

// loading is the change of one load call, repeated until it is saved.
type loading struct {
	scope   *Scope
	texts   []skillText
	replace bool
	// anchor is the user message of a load that no call made.
	anchor *session.Mark

	lines   []string
	receipt session.Receipt
	events  []core.Event
}

// save makes the change and answers it.
func (l *loading) save(ctx context.Context, r *reply) (string, error) {
	answer, err := l.scope.Update(ctx, func(rec *session.Record) (*session.Record, string, error) {
		next, err := l.apply(rec)
		return next, r.join(l.answer()), err
	})
	if err != nil {
		return "", err
	}
	for _, e := range l.events {
		l.scope.Emit(ctx, e)
	}
	return answer, nil
}

func (l *loading) apply(rec *session.Record) (*session.Record, error) {
	next := rec.Clone()
	l.lines, l.events, l.receipt = nil, nil, session.Receipt{Call: l.scope.Number}
	var keep []string
	for _, t := range l.texts {
		keep = append(keep, t.skill.Name)
	}
	if l.replace {
		for _, a := range rec.Active {
			if !slices.Contains(keep, a.Skill) {
				next.Unload(a.Skill)
				l.gone("unloaded: "+a.Skill, a.Skill, core.SkillUnloaded)
			}
		}
	}
	for i := range l.texts {
		l.load(next, &l.texts[i])
	}
	for _, name := range loadmode.Evict(next, l.scope.Max, keep, l.scope.Victim) {
		l.gone(fmt.Sprintf("unloaded to make room (at most %d): %s", l.scope.Max, name), name, core.SkillEvicted)
	}
	l.restricted(next)
	return next, nil
}

func (l *loading) load(next *session.Record, t *skillText) {
	name := t.skill.Name
	was := next.Find(name) != nil
	var revived []string // docs of a load that is over, and still in view
	if !was {
		revived = next.Revive(name, l.scope.shows)
	}
	seen := l.scope.showsBody(next, name)
	old, loaded := next.Body(name)
	changed := loaded && old != t.body.Digest
	d := session.Delivery{
		Call: l.scope.Number, Turn: next.Turn, Skill: name, Digest: t.body.Digest,
		Body: changed || !seen, Anchor: l.anchor, Seen: true,
	}
	docs := t.docs
	switch {
	case changed:
		docs = t.withSelected()
		if !seen {
			next.DropBody(name) // what nobody sees can go at once
		}
		d.Supersedes = l.scope.showsAny(next, name)
		next.Supersede(name)
	case !seen:
		next.DropBody(name) // its docs may be in view, and stay where they are
	}
	next.Hold(name, l.scope.Number, t.skill.AllowedTools, t.skill.Repaired)
	a := next.Activate(name, t.body.Digest)
	if !was {
		a.Call, a.Docs = l.scope.Number, revived
	}
	a.All = a.All || t.all
	if changed { // a doc that is gone is no longer selected
		a.Docs = slices.DeleteFunc(a.Docs, func(n string) bool {
			return !slices.ContainsFunc(docs, func(doc docText) bool { return doc.name == n })
		})
	}
	added := l.scope.deliverDocs(next, &d, docs)
	for _, doc := range added {
		if !slices.Contains(a.Docs, doc) {
			a.Docs = append(a.Docs, doc)
		}
	}
	l.said(name, d, added, !was)
	if d.Body || len(d.Docs) > 0 {
		next.Deliver(d)
	}
	if !was {
		added = slices.Clone(a.Docs)
	}
	if d.Body || len(d.Docs) > 0 || !was {
		l.receipt.Changes = append(l.receipt.Changes, session.Change{
			Op: session.Loaded, Skill: name, Digest: d.Digest, All: t.all, Docs: added,
		})
	}
	l.events = append(l.events, core.Event{Kind: core.SkillLoaded, Skill: name, Digest: d.Digest, Docs: added})
}

func (l *loading) said(name string, d session.Delivery, docs []string, revived bool) {
	line := "loaded: " + name
	switch {
	case revived && !d.Body:
		line += "; its text is above"
		if len(docs) > 0 {
			line += ", docs added: " + strings.Join(docs, ", ")
		}
	case d.Body && d.Supersedes:
		line += " (its text has changed: this one supersedes the earlier one)"
	case !d.Body && len(docs) > 0:
		line = "already loaded: " + name + "; docs added: " + strings.Join(docs, ", ")
	case !d.Body:
		line = "already loaded: " + name + "; its text is above"
	}
	l.lines = append(l.lines, line)
}

// restricted tells what is left to call after a skill with a list was loaded.
func (l *loading) restricted(next *session.Record) {
	listed := slices.ContainsFunc(l.texts, func(t skillText) bool { return t.skill.AllowedTools != nil })
	if listed && l.scope.Restricted != nil {
		if line := l.scope.Restricted(next); line != "" {
			l.lines = append(l.lines, line)
		}
	}
}

func (l *loading) gone(line, skill string, kind core.EventKind) {
	l.lines = append(l.lines, line)
	l.receipt.Changes = append(l.receipt.Changes, session.Change{Op: session.Unloaded, Skill: skill})
	l.events = append(l.events, core.Event{Kind: kind, Skill: skill})
}

func (l *loading) answer() string {
	text := strings.Join(l.lines, "\n")
	if len(l.receipt.Changes) > 0 {
		text += "\n" + l.receipt.String()
	}
	return text
}
