package skilltools

import (
	"context"
	"strings"

	"github.com/satchel-go/satchel/tools"
)

// argumentsField returns the field of skill_load for arguments. The model does not see it unless
// isOffered is set.
func argumentsField(isOffered bool) tools.Field {
	return tools.Field{
		Name: "arguments", Kind: tools.Value, Schema: map[string]any{"type": "string"}, Reads: map[string]any{}, Hidden: !isOffered,
	}
}

// OfferArguments shows the model the field for arguments, if an operation is skill_load.
func OfferArguments(o tools.Operation) tools.Operation {
	fields := make([]tools.Field, len(o.Fields))
	for i, f := range o.Fields {
		if fields[i] = f; o.Name == "skill_load" && f.Name == "arguments" {
			fields[i] = argumentsField(true)
		}
	}
	o.Fields = fields
	return o
}

// argumentsOf returns the arguments of a call of skill_load for the named skills. value is what the
// model has sent. If the model does not see the field, argumentsOf adds a warning about an unknown
// field to r. It then ignores the arguments, unless one of the skills takes them, which has come
// after the decision about the field.
func (s *Scope) argumentsOf(ctx context.Context, r *reply, value any, names []string) (string, error) {
	if !s.OffersArguments {
		if !s.takesArguments(ctx, names) {
			r.add(`ignored unknown field "arguments"`)
			return "", nil
		}
		r.add(`unknown field "arguments": taken all the same, because the skill takes arguments`)
	}
	text, isText := value.(string)
	switch {
	case !isText:
		return "", tools.ModelErrorf(`arguments: write one text, such as {"skill":"…","arguments":"…"}`)
	case len(names) > 1 && strings.TrimSpace(text) != "":
		return "", tools.ModelErrorf("arguments are for one skill: load each skill with a call of its own")
	}
	return text, nil
}

// ArgumentsOf returns the arguments of a call that loads a skill, "" if it has none.
func ArgumentsOf(args tools.Args) string {
	var value any
	if args.Err() != nil || args.Value("arguments", &value) != nil {
		return ""
	}
	text, _ := value.(string)
	return text
}

// takesArguments reports whether one of the named skills takes arguments.
func (s *Scope) takesArguments(ctx context.Context, names []string) bool {
	rec, err := s.Record(ctx)
	if err != nil {
		return false
	}
	for _, name := range names {
		skill, err := s.skillToLoad(ctx, rec, name)
		if err == nil && !skill.TakesArguments && skill.RootDir == "" { // the catalog may not have read the body
			skill, _, err = s.withName(skill).Catalog().Body(ctx, skill.Name)
		}
		if err == nil && skill.TakesArguments {
			return true
		}
	}
	return false
}
