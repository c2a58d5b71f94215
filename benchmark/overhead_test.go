package main

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/tools"
)

// confinedExecutor is an executor that claims a network and files of its own, as the default executor on
// Linux has them. The description of skill_run is longest with it.
type confinedExecutor struct{ executor.Executor }

func (confinedExecutor) Capabilities() executor.Capabilities {
	held := executor.Capability{Enforced: true}
	return executor.Capabilities{Network: held, Filesystem: held}
}

// TestOverhead holds the tokens of schemas and rules, which every request contains beside the
// list of skills.
func TestOverhead(t *testing.T) {
	for _, tt := range []struct {
		profile tools.Profile
		most    int
	}{{tools.Full, 750}, {tools.KnowledgeOnly, 350}} {
		t.Run(string(tt.profile), func(t *testing.T) {
			rt, err := satchel.New(
				satchel.WithSkillFS("skills", fstest.MapFS{"a/SKILL.md": {Data: []byte("---\nname: a\ndescription: A.\n---\n")}}),
				satchel.WithTools(satchel.Tools{Profile: tt.profile}),
				satchel.WithRunner(satchel.Runner{Executor: confinedExecutor{}}),
			)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = rt.Close() })
			renderer, err := prompt.NewO200k()
			if err != nil {
				t.Fatal(err)
			}
			sum := 0
			for _, tool := range rt.Tools() {
				text, err := toolText(tool)
				if err != nil {
					t.Fatal(err)
				}
				sum += count(t, renderer, text)
			}
			view, err := rt.Prepare(t.Context(), core.Request{Key: core.SessionKey{Session: "s"}})
			if err != nil || len(view.Messages) == 0 {
				t.Fatalf("%+v, %v", view, err)
			}
			_, rules, _ := strings.Cut(view.Messages[0].Text, "</available_skills>\n")
			if rules == "" {
				t.Fatalf("no rules in %q", view.Messages[0].Text)
			}
			if sum += count(t, renderer, rules); sum > tt.most {
				t.Errorf("%d tokens of schemas and rules, want at most %d", sum, tt.most)
			}
			t.Logf("%d tokens", sum)
		})
	}
}

// toolText returns the JSON of a tool as requests contain it.
func toolText(tool core.Tool) (string, error) {
	description, err := plainjson.Encode(tool.Description)
	return fmt.Sprintf(`{"name":%q,"description":%s,"parameters":%s}`, tool.Name, description, tool.Schema), err
}

func count(t *testing.T, renderer *prompt.Renderer, text string) int {
	t.Helper()
	ids, err := renderer.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	return len(ids)
}
