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
	var r reply
	if c.mode != "clear" {
		var left []tell
		if c.docs, left, err = chosenDocs(ctx, s, skill.Name, args.Texts("docs"), c.all); err != nil {
			return "", err
		}
		leftOut(&r, left)
	}
	answer, err := s.Update(ctx, func(rec *session.Record) (*session.Record, string, error) {
		next, text, err := c.apply(rec)
		return next, r.join(text), err
	})
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
	leftOut(&r, t.left)
	change := loading{scope: s, texts: []skillText{t}}
	return change.save(ctx, &r)
}

// chosenDocs reads the docs that a call names. One that the skill does not have
// makes the whole call an error, and so it is when none can be read.
func chosenDocs(ctx context.Context, s *Scope, skill string, names []string, all bool) ([]docText, []tell, error) {
	has, err := s.Catalog.Docs(ctx, skill)
	if err != nil {
		return nil, nil, unreadable(ctx, err, "docs of %q cannot be listed", skill)
	}
	want := has
	if !all {
		if len(names) == 0 {
			return nil, nil, tellf("name docs, or set include_all_docs, or use mode clear; the docs of %q are %s", skill, jsonList(has, 40))
		}
		for _, n := range names {
			if len(known([]string{n}, has)) == 0 {
				return nil, nil, unknownDoc(skill, n, has)
			}
		}
		want = known(names, has)
	}
	docs, left, err := readDocs(ctx, s, skill, want)
	if err == nil && len(docs) == 0 && len(left) > 0 {
		err = left[0]
	}
	return docs, left, err
}

// Docs returns the docs that a call with these arguments names, and whether it
// names all that there are.
func (o *Operation) Docs(arguments string) (docs []string, all bool) {
	args, err := decode(arguments, o.Fields)
	if err != nil {
		return nil, false
	}
	for _, name := range args.Texts("docs") {
		docs = append(docs, cleanPath(name))
	}
	return docs, args.Flag("include_all_docs")
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
