package tools

import (
	"context"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// SelectDocs is skill_select_docs: it chooses which docs of a loaded skill are
// in view.
func SelectDocs() Operation {
	return Operation{
		Name:        "skill_select_docs",
		Description: "Choose which docs of a loaded skill you see. Answers the selection.",
		Fields: []Field{
			{Name: "skill", Kind: Text, Required: true},
			{Name: "docs", Kind: Texts},
			{Name: "include_all_docs", Kind: Flag},
			{Name: "mode", Kind: Text, Enum: []string{"replace", "add", "clear"}, Description: "default replace"},
		},
		Always:   true,
		Changes:  true,
		Delivers: true,
		Needs:    []string{"skill_load"},
		Call:     selectDocs,
	}
}

func selectDocs(ctx context.Context, s *Scope, args Args) (string, error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return "", err
	}
	skill, err := find(s, rec, args.Text("skill"))
	if err != nil {
		return "", err
	}
	if rec.Find(skill.Name) == nil {
		if args.Text("mode") == "clear" || !s.showsBody(rec, skill.Name) {
			return "", notLoaded(skill.Name)
		}
		return loadAgain(ctx, s, skill, args)
	}
	c := selection{scope: s, skill: skill.Name, mode: args.Text("mode"), all: args.Flag("include_all_docs")}
	if c.mode != "clear" {
		if c.docs, err = chosenDocs(ctx, s, skill.Name, args.Texts("docs"), c.all); err != nil {
			return "", err
		}
	}
	answer, err := s.Update(ctx, c.apply)
	if err != nil {
		return "", err
	}
	s.Emit(ctx, core.Event{Kind: core.DocsSelected, Skill: skill.Name, Docs: c.selected})
	return answer, nil
}

// loadAgain loads a skill whose load has ended and whose text is still in view,
// with the docs that the call names.
func loadAgain(ctx context.Context, s *Scope, skill core.Skill, args Args) (string, error) {
	t, err := readSkillText(ctx, s, skill, args.Texts("docs"), args.Flag("include_all_docs"))
	if err != nil {
		return "", err
	}
	var r reply
	unknownDocs(&r, []skillText{t}, args.Texts("docs"))
	change := loading{scope: s, texts: []skillText{t}}
	return change.save(ctx, &r)
}

// chosenDocs reads the docs that a call names. One that the skill does not have
// makes the whole call an error.
func chosenDocs(ctx context.Context, s *Scope, skill string, names []string, all bool) ([]docText, error) {
	docs, err := s.Catalog.Docs(ctx, skill)
	if err != nil {
		return nil, unreadable(ctx, err, "docs of %q cannot be listed", skill)
	}
	if all {
		return readDocs(ctx, s, skill, docs)
	}
	if len(names) == 0 {
		return nil, tellf("name docs, or set include_all_docs, or use mode clear; the docs of %q are %s", skill, jsonList(docs, 40))
	}
	for _, n := range names {
		if len(known([]string{n}, docs)) == 0 {
			return nil, unknownDoc(skill, n, docs)
		}
	}
	return readDocs(ctx, s, skill, known(names, docs))
}

func notLoaded(skill string) tell {
	return tell(`skill "` + cut(skill, 80) + `" is not loaded: call skill_load for it first`)
}

// selection is the change of one call, repeated until it is saved.
type selection struct {
	scope *Scope
	skill string
	mode  string
	all   bool
	docs  []docText

	selected []string
	receipt  session.Receipt
}

func (c *selection) apply(rec *session.Record) (*session.Record, string, error) {
	next := rec.Clone()
	a := next.Find(c.skill)
	if a == nil {
		return nil, "", notLoaded(c.skill)
	}
	c.selected = nil
	all := c.all && c.mode != "clear"
	if c.mode == "add" {
		c.selected = slices.Clone(a.Docs)
		all = all || a.All
	}
	for _, d := range c.docs {
		if !slices.Contains(c.selected, d.name) {
			c.selected = append(c.selected, d.name)
		}
	}
	next.Deselect(c.skill, c.selected, all)
	next.Touch(c.skill)
	d := session.Delivery{Call: c.scope.Number, Turn: next.Turn, Skill: c.skill, Digest: a.Digest, Seen: true}
	c.scope.deliverDocs(next, &d, c.docs)
	if len(d.Docs) > 0 {
		next.Deliver(d)
	}
	c.receipt = session.Receipt{Call: c.scope.Number, Changes: []session.Change{{
		Op: session.Selected, Skill: c.skill, All: all, Docs: c.selected,
	}}}
	return next, c.answer(), nil
}

func (c *selection) answer() string {
	list := "none"
	if len(c.selected) > 0 {
		list = strings.Join(c.selected, ", ")
	}
	return "docs of " + c.skill + ": " + list + "\n" + c.receipt.String()
}
