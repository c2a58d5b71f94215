// Command vocabulary offers the tools of the Agent Skills Runtime Implementation Spec in place
// of Satchel's own. It loads two skills with them, and prints the names of the tools and of the
// loaded skills.
//
// Run it in examples/: go run ./vocabulary
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/tools"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "vocabulary:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	skills, err := satchel.New(satchel.WithSkillDirs("skills"), satchel.WithTools(satchel.Tools{Vocabulary: tools.Vocabulary{Name: tools.RuntimeSpec}, Profile: tools.KnowledgeOnly}))
	if err != nil {
		return err
	}
	defer skills.Close()
	for _, tool := range skills.Tools() {
		fmt.Fprintln(w, tool.Name)
	}
	for _, arguments := range []string{`{"names":["commit-style","release-notes"]}`, `{"names":["log-triage"]}`} {
		answer, err := skills.CallTool(ctx, core.SessionKey{Session: "s", Agent: "a"}, core.ToolCall{ID: arguments, Name: "skills_load", Arguments: arguments})
		if err != nil {
			return err
		}
		var receipt struct {
			Active []struct{ Name string } `json:"active_skills"`
		}
		if err := json.Unmarshal([]byte(answer), &receipt); err != nil {
			return err
		}
		fmt.Fprintln(w, arguments, "->", receipt.Active)
	}
	return nil
}
