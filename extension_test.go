package satchel_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/tools"
)

// shown returns an audience that sees the skills with these names.
func shown(key string, names ...string) func(context.Context, core.SessionKey) satchel.Audience {
	return func(context.Context, core.SessionKey) satchel.Audience {
		return satchel.Audience{Key: key, Allow: func(skill core.Skill) bool {
			return strings.Contains(strings.Join(names, " "), skill.Name)
		}}
	}
}

// boundKey is what Bind of the tests puts into the context of calls.
type boundKey struct{}

// callOf is the operation of a tool that answers what Bind has put into its context.
func callOf(name string) tools.Operation {
	return tools.Operation{
		Name: name, Description: "Says what it is bound to.", Kind: tools.Reads, Fields: []tools.Field{{Name: "where", Kind: tools.Text}},
		Request: func(tools.Args) permission.Request { return permission.Request{Idle: true} },
		Call: func(ctx context.Context, _ *tools.Scope, _ tools.Args) (string, error) {
			bound, _ := ctx.Value(boundKey{}).(string)
			return "bound to " + bound, nil
		},
	}
}

// An extension adds skills, an audience and tools, in any order of the options.
func TestExtension(t *testing.T) {
	skill := func(name string) fstest.MapFS {
		return fstest.MapFS{name + "/SKILL.md": {Data: []byte("---\nname: " + name + "\ndescription: A skill.\n---\nText.\n")}}
	}
	source, err := source.Open(t.Context(), source.FS("added", fstest.MapFS{
		"added/SKILL.md": skill("added")["added/SKILL.md"], "hidden/SKILL.md": skill("hidden")["hidden/SKILL.md"],
	}), source.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	key := core.SessionKey{Session: "s"}
	extension := satchel.WithExtension("parts.With", func(host satchel.ExtensionHost) (satchel.Extension, error) {
		if host.Logger == nil || host.HasCatalog || host.HasVocabulary || host.Audience == nil {
			t.Errorf("the host is %+v", host)
		}
		if of, err := host.Audience(context.Background(), key); err != nil || of.Key != "host" || !of.Allow(core.Skill{Name: "hidden"}) {
			t.Errorf("the audience of the host is %+v, %v", of, err)
		}
		return satchel.Extension{
			Source: source, Root: "parts", Audience: shown("parts", "added", "plain"), Operations: []tools.Operation{callOf("look_around")},
			Bind: func(o tools.Operation) tools.Operation {
				call := o.Call
				o.Call = func(ctx context.Context, s *tools.Scope, args tools.Args) (string, error) {
					return call(context.WithValue(ctx, boundKey{}, "parts"), s, args)
				}
				return o
			},
		}, nil
	})
	audience, dirs := satchel.WithAudience(shown("host", "added", "hidden", "plain")), satchel.WithSkillFS("host", skill("plain"))
	own := satchel.WithTools(satchel.Tools{Operations: []tools.Operation{callOf("own")}})
	for _, opts := range [][]satchel.Option{{extension, audience, own, dirs}, {dirs, own, audience, extension}} {
		text := first(t, opts...)
		if !strings.Contains(text, "added") || !strings.Contains(text, "plain") || strings.Contains(text, "hidden") {
			t.Errorf("the overview is %s", text)
		}
		rt, err := satchel.New(opts...)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"look_around", "own"} {
			if got, err := rt.CallTool(context.Background(), key, core.ToolCall{Name: name, Arguments: "{}"}); got != "bound to parts" || err != nil {
				t.Errorf("%s: %s, %v", name, got, err)
			}
		}
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An extension may leave out tools of the host's vocabulary.
func TestExtensionOmits(t *testing.T) {
	rt, err := satchel.New(
		satchel.WithExtension("parts.With", func(host satchel.ExtensionHost) (satchel.Extension, error) {
			if !host.HasVocabulary {
				t.Error("HasVocabulary is false")
			}
			return satchel.Extension{Omit: []string{"skills_read"}}, nil
		}),
		satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly, Vocabulary: tools.Vocabulary{Name: tools.RuntimeSpec}}),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	names := ""
	for _, tool := range rt.Tools() {
		names += tool.Name + " "
	}
	if strings.Contains(names, "skills_read") || !strings.Contains(names, "skills_load") {
		t.Errorf("the tools are %s", names)
	}
}

func TestExtensionErrors(t *testing.T) {
	empty := func(satchel.ExtensionHost) (satchel.Extension, error) { return satchel.Extension{}, nil }
	shared, err := catalog.Open(context.Background(), []source.Root{source.FS("skills", optionSkills)})
	if err != nil {
		t.Fatal(err)
	}
	defer shared.Close()
	source, err := source.Open(t.Context(), source.FS("added", optionSkills), source.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	for want, opts := range map[string][]satchel.Option{
		"invalid option: parts.With is given twice":    {satchel.WithExtension("parts.With", empty), satchel.WithExtension("parts.With", empty)},
		"invalid option: parts.With: the value is nil": {satchel.WithExtension("parts.With", nil)},
		"invalid option: parts.With: no parts": {satchel.WithExtension("parts.With", func(satchel.ExtensionHost) (satchel.Extension, error) {
			return satchel.Extension{}, errors.New("no parts")
		})},
		"invalid option: parts.With: WithCatalog excludes a source of skills": {
			satchel.WithExtension("parts.With", func(satchel.ExtensionHost) (satchel.Extension, error) {
				return satchel.Extension{Source: source, Root: "parts"}, nil
			}),
			satchel.WithCatalog(shared),
		},
		`invalid option: WithPermissions: ToolSkills: "look_around" is a tool of Satchel itself; name tools of the host`: {
			satchel.WithPermissions(satchel.Permissions{ToolSkills: map[string][]string{"look_around": {"pdf"}}}),
			satchel.WithExtension("parts.With", func(satchel.ExtensionHost) (satchel.Extension, error) {
				return satchel.Extension{Operations: []tools.Operation{callOf("look_around")}}, nil
			}),
		},
	} {
		if rt, err := satchel.New(opts...); err == nil || err.Error() != want || !errors.Is(err, satchel.ErrOption) {
			t.Errorf("%v, want %s", err, want)
			if rt != nil {
				rt.Close()
			}
		}
	}
	if rt, err := satchel.New(satchel.WithExtension("one.With", empty), satchel.WithExtension("two.With", empty)); err != nil {
		t.Error(err)
	} else {
		rt.Close()
	}
}
