// Command search offers the model skill_search, which a host with thousands of skills
// does anyway, and prints what it answers to several wordings of one need. A host finds
// skills by the same search.
//
// Run it in examples/: go run ./search
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	skills, err := satchel.New(satchel.WithSkillDirs("skills"), satchel.WithOverview(satchel.Overview{Search: satchel.SearchOn}))
	if err != nil {
		return err
	}
	defer skills.Close()
	answer, err := skills.CallTool(ctx, core.SessionKey{Session: "s", Agent: "a"}, core.ToolCall{
		Name: "skill_search", Arguments: `{"queries":["what failed first in this log","triage an error log"]}`,
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(w, answer)
	found, err := skills.Catalog().Search(ctx, catalog.Query{Phrasings: []string{"write a commit message"}})
	if err != nil {
		return err
	}
	for _, hit := range found.Hits {
		fmt.Fprintln(w, hit.Skill.Name, hit.Strong)
	}
	return nil
}
