package satchel_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/tools/unified"
)

// The session says who talks, and who talks which skills there are.
func ExampleWithAudience() {
	files := fstest.MapFS{
		"faq/SKILL.md":    {Data: []byte("---\nname: faq\ndescription: Answers what customers ask.\n---\nBe brief.\n")},
		"refund/SKILL.md": {Data: []byte("---\nname: refund\ndescription: Pays money back.\n---\nAsk for the invoice.\n")},
	}
	// snippet: audience
	staff := satchel.Audience{Key: "staff"} // sees all skills
	customers := satchel.Audience{Key: "customers", Allow: func(skill core.Skill) bool { return skill.Name == "faq" }}
	skills, err := satchel.New(
		satchel.WithSkillFS("skills", files),
		satchel.WithAudience(func(_ context.Context, key core.SessionKey) satchel.Audience {
			if strings.HasPrefix(key.Session, "staff/") {
				return staff
			}
			return customers
		}),
	)
	// end snippet
	if err != nil {
		fmt.Println(err)
		return
	}
	defer skills.Close()
	for _, session := range []string{"staff/1", "web/1"} {
		answer, err := skills.CallTool(context.Background(), core.SessionKey{Session: session}, core.ToolCall{Name: "skill_load", Arguments: "refund"})
		answer, _, _ = strings.Cut(answer, "\n") // a receipt follows
		fmt.Println(session, answer, err)
	}
	// Output:
	// staff/1 loaded: refund <nil>
	// web/1 error: unknown skill "refund": use a name from the list of available skills <nil>
}

// An agent has the skills of the plugins that are assigned to it.
func ExampleWithAudience_plugins() {
	var plugins []library.Plugin
	for _, name := range []string{"faq", "ledger"} {
		source, err := catalog.OpenSource(catalog.FS(name, fstest.MapFS{name + "/SKILL.md": {Data: []byte("---\nname: " + name + "\ndescription: A skill of a plugin.\n---\nBe brief.\n")}}))
		if err != nil {
			fmt.Println(err)
			return
		}
		plugins = append(plugins, library.Plugin{ID: name, Source: source})
	}
	l, err := library.New(library.NewMemory(), library.WithPlugins(plugins...))
	if err != nil {
		fmt.Println(err)
		return
	}
	// snippet: plugins
	assigned := map[string][]string{"support": {"faq"}, "finance": {"faq", "ledger"}}
	skills, err := satchel.New(
		satchel.WithLibrary(l, satchel.LibraryOptions{}),
		satchel.WithTools(satchel.Tools{Vocabulary: unified.New()}),
		satchel.WithAudience(func(_ context.Context, key core.SessionKey) satchel.Audience {
			return satchel.Audience{Key: "agent " + key.Agent, Allow: func(skill core.Skill) bool {
				id, ofPlugin := strings.CutPrefix(skill.ID, "plugin:") // plugin:<plugin>:<name>
				plugin, _, _ := strings.Cut(id, ":")
				return !ofPlugin || slices.Contains(assigned[key.Agent], plugin)
			}}
		}),
	)
	// end snippet
	if err != nil {
		fmt.Println(err)
		return
	}
	defer skills.Close()
	for _, agent := range []string{"support", "finance"} {
		answer, err := skills.CallTool(context.Background(), core.SessionKey{Session: "1", Agent: agent}, core.ToolCall{Name: "runSkill", Arguments: `{"action":"inspect","skill":"ledger"}`})
		answer, _, _ = strings.Cut(answer, ",")
		fmt.Println(agent, answer, err)
	}
	// Output:
	// support {"error":"unknown" <nil>
	// finance {"action":"inspect" <nil>
}
