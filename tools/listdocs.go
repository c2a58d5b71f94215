package tools

import "context"

// ListDocs is skill_list_docs: the docs of a skill as a JSON array.
func ListDocs() Operation {
	return Operation{
		Name:        "skill_list_docs",
		Description: "List the docs of a skill.",
		Fields:      []Field{{Name: "skill", Kind: Text, Required: true}},
		Always:      true,
		Call:        listDocs,
	}
}

func listDocs(ctx context.Context, s *Scope, args Args) (string, error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return "", err
	}
	skill, err := find(s, rec, args.Text("skill"))
	if err != nil {
		return "", err
	}
	docs, err := s.Catalog.Docs(ctx, skill.Name)
	if err != nil {
		return "", unreadable(ctx, err, "docs of %q cannot be listed", skill.Name)
	}
	return jsonList(docs, len(docs)), nil
}
