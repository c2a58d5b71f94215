package library_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/library"
)

// An agent has the skills of the plugins that are assigned to it.
func ExampleWith_plugins() {
	var plugins []library.Plugin
	for _, name := range []string{"faq", "ledger"} {
		source, err := source.Open(context.Background(), source.FS(name, fstest.MapFS{name + "/SKILL.md": {Data: []byte("---\nname: " + name + "\ndescription: A skill of a plugin.\n---\nBe brief.\n")}}), source.Reading{})
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
		library.With(l, library.AgentOptions{}),
		satchel.WithTools(satchel.Tools{Vocabulary: library.Vocabulary()}),
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
