package skilltools

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/tools"
)

// SelectDocsName is the name of the operation of [SelectDocs].
const SelectDocsName = "skill_select_docs"

// SelectDocs returns the operation skill_select_docs, which chooses the docs of a loaded skill
// that are in view.
func SelectDocs() tools.Operation {
	return tools.Operation{
		Name:        SelectDocsName,
		Description: "Choose docs of a loaded skill: path or path#heading.",
		Fields: []tools.Field{
			{Name: "skill", Kind: tools.Text, Required: true, Aliases: skillAliases()},
			{Name: "docs", Kind: tools.Texts},
			{Name: "include_all_docs", Kind: tools.Flag},
			{Name: "mode", Kind: tools.Text, Enum: []string{"replace", "add", "clear"}},
		},
		Kind:  tools.Changes,
		Needs: []string{"skill_load"},
		Call:  With(selectDocs),
	}
}

func selectDocs(ctx context.Context, s *Scope, args tools.Args) (string, error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return "", err
	}
	if skill, ok := s.inView(ctx, rec, args.Text("skill")); ok && args.Text("mode") != "clear" {
		return reload(ctx, s, skill, args.Texts("docs"), args.Flag("include_all_docs"))
	}
	skill, err := s.Skill(rec, args.Text("skill"))
	if err == nil && rec.Find(skill.Name) == nil {
		err = NotLoaded(skill.Name)
	}
	if err != nil {
		return "", err
	}
	if rec.IsPermanent(skill.Name) && hasEnded(rec, skill.Name) && args.Text("mode") != "clear" {
		return reload(ctx, s, skill, args.Texts("docs"), args.Flag("include_all_docs"))
	}
	c := selection{scope: s, skill: skill.Name, mode: args.Text("mode"), all: args.Flag("include_all_docs")}
	var r reply
	if c.mode != "clear" {
		var left []tools.ModelError
		if c.docs, left, err = chosenDocs(ctx, s, s.LoadedCatalog(rec), skill, args.Texts("docs"), c.all); err != nil {
			return "", err
		}
		addUnreadable(&r, left)
	}
	answer, err := s.Update(ctx, func(rec *state.Record) (*state.Record, string, error) {
		next, text, err := c.apply(ctx, rec)
		return next, r.join(text), err
	})
	if err != nil {
		return "", err
	}
	s.Emit(ctx, core.Event{Kind: core.DocsSelected, Skill: skill.Name, Docs: c.selected, Load: s.Number(), Tokens: c.tokens})
	s.emitAll(ctx, c.cleared)
	if c.line != "" {
		s.Emit(ctx, budgetEvent(c.line))
	}
	return answer, nil
}

// hasEnded reports whether texts of a skill are in view that a load before this turn has brought.
func hasEnded(rec *state.Record, skill string) bool {
	return slices.ContainsFunc(rec.Deliveries, func(d state.Delivery) bool { return d.Skill == skill && d.Ended })
}

// chosenDocs reads the docs that a call names. It returns an error if the skill lacks one of
// them, or if none can be read.
func chosenDocs(ctx context.Context, s *Scope, from *catalog.Catalog, skill core.Skill, names []string, all bool) ([]docText, []tools.ModelError, error) {
	has, err := from.Docs(ctx, skill.Name)
	if err != nil {
		return nil, nil, readError(ctx, err, "docs of %q cannot be listed", skill.Name)
	}
	want := wholeDocs(has)
	if !all {
		if len(names) == 0 {
			return nil, nil, tools.ModelErrorf("name docs, or set include_all_docs, or use mode clear; the docs of %q are %s", skill.Name, jsonList(has, 40))
		}
		for _, n := range names {
			if _, ok := refOf(n, has); !ok {
				return nil, nil, unknownDoc(skill.Name, n, has)
			}
		}
		want = docRefs(names, has)
	}
	read, err := readDocs(ctx, s, from, skill, has, want)
	for _, n := range names {
		if missing, ok := read.noHeading[n]; ok && err == nil {
			err = missing
		}
	}
	if err == nil && len(read.docs) == 0 && len(read.unreadable) > 0 {
		err = read.unreadable[0]
	}
	return read.docs, read.unreadable, err
}

// DocsOf returns the docs that the arguments of skill_load or skill_select_docs name, and whether
// they name all docs. For a section it returns the names that a record may have for it.
func DocsOf(args tools.Args) (docs []string, all bool) {
	if args.Err() != nil {
		return nil, false
	}
	for _, name := range args.Texts("docs") {
		docs = append(docs, path.Clean(name))
		for doc, heading := range splits(name) {
			docs = append(docs, doc+"#"+skilltext.Anchor(strings.TrimLeft(heading, "# \t")))
		}
	}
	return docs, args.Flag("include_all_docs")
}

// NotLoaded returns the [tools.ModelError] for a skill that must be loaded first.
func NotLoaded(skill string) error {
	return tools.ModelError(`skill "` + printable.CutLine(skill, 80) + `" is not loaded: call skill_load for it first`)
}

// selection is the change of one call of skill_select_docs. apply may run several times until the
// change is saved.
type selection struct {
	scope *Scope
	skill string
	mode  string
	all   bool
	docs  []docText

	selected []string
	inWhole  []string // named sections that are in view with their docs or larger sections
	receipt  state.Receipt
	line     string // warning of the content budget
	cleared  []core.Event
	tokens   int // of the docs that the call has brought
}

// apply returns the record after the change of rec, and the answer.
func (c *selection) apply(ctx context.Context, rec *state.Record) (*state.Record, string, error) {
	next := rec.Clone()
	a := next.Find(c.skill)
	if a == nil {
		return nil, "", NotLoaded(c.skill)
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
	c.selected = next.Select(c.scope.Number(), c.skill, c.selected, all, pinnedDocs(c.docs), c.scope.shows)
	c.inWhole = nil
	for _, d := range c.docs {
		isNamed := func(w state.Whole) bool {
			return slices.ContainsFunc(c.docs, func(doc docText) bool { return doc.name == w.Name })
		}
		if d.place != nil && !slices.Contains(c.selected, d.name) && !slices.ContainsFunc(d.place.In, isNamed) {
			c.inWhole = append(c.inWhole, d.name)
		}
	}
	c.receipt = state.Receipt{Call: c.scope.Number(), Changes: []state.Change{{
		Op: state.Selected, Skill: c.skill, All: all, Docs: c.selected,
	}}}
	c.cleared = c.scope.cleared(rec, next, state.ClearedByUnload)
	selected := c.scope.beforeBudget(next)
	c.tokens = 0
	for i := range next.Deliveries {
		if d := &next.Deliveries[i]; d.Call == c.scope.Number() && d.Skill == c.skill {
			tokens, err := c.scope.tokensOf(ctx, d)
			if err != nil {
				return nil, "", err
			}
			c.tokens += tokens
		}
	}
	var err error
	if c.line, err = c.scope.fitBudget(ctx, rec, next); err != nil {
		return nil, "", err
	}
	c.cleared = append(c.cleared, c.scope.cleared(selected, next, state.ClearedByBudget)...)
	return next, c.answer(), nil
}

func (c *selection) answer() string {
	list := "none"
	if len(c.selected) > 0 {
		list = strings.Join(c.selected, ", ")
	}
	text := "docs of " + c.skill + ": " + list
	if len(c.inWhole) > 0 {
		text += "\nin view already: " + strings.Join(c.inWhole, ", ")
	}
	if c.line != "" {
		text += "\n" + c.line
	}
	return text + "\n" + c.receipt.String()
}
