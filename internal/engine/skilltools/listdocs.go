package skilltools

import (
	"context"
	"math"

	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/tools"
)

// ListDocs returns the operation skill_list_docs, which lists the docs of a skill as a JSON
// array. The names of the sections of a long doc follow it.
func ListDocs() tools.Operation {
	return tools.Operation{
		Name:        "skill_list_docs",
		Description: "List a skill's docs.",
		Fields: []tools.Field{
			{Name: "skill", Kind: tools.Text, Required: true, Aliases: skillAliases()},
			{Name: "offset", Kind: tools.Count, Hidden: true},
		},
		Kind: tools.Reads,
		Call: With(listDocs),
	}
}

func listDocs(ctx context.Context, s *Scope, args tools.Args) (string, error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return "", err
	}
	skill, err := s.Skill(rec, args.Text("skill"))
	if err != nil {
		return "", err
	}
	from := s.LoadedCatalog(rec)
	docs, err := from.Docs(ctx, skill.Name)
	if err != nil {
		return "", readError(ctx, err, "docs of %q cannot be listed", skill.Name)
	}
	if docs, err = listedDocs(ctx, from, skill, docs, docs, math.MaxInt); err != nil {
		return "", err
	}
	return docsPage(docs, args, s.Limits.Answer-headRoom)
}

// docsPage returns the names from the offset on as a JSON array. If they take more than room
// bytes, it returns the first ones and the next offset.
func docsPage(docs []string, args tools.Args, room int) (string, error) {
	first, _ := args.Count("offset")
	first = min(first, len(docs))
	last := first
	for ; last < len(docs); last++ {
		if room -= printable.Size(docs[last]) + len(`"",`); room < 0 && last > first {
			break
		}
	}
	if last == len(docs) {
		return plainjson.Encode(append([]printable.Text{}, printable.Texts(docs[first:])...))
	}
	return plainjson.Encode(struct {
		Docs  []printable.Text `json:"docs"`
		Next  int              `json:"next_offset"`
		Total int              `json:"total"`
	}{printable.Texts(docs[first:last]), last, len(docs)})
}
