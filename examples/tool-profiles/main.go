// Command tool-profiles prints which tools a model is offered by the default profile, by the
// read-only profile, and by a custom choice. New returns an error for a choice that cannot
// work.
//
// Run it in examples/: go run ./tool-profiles
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/tools"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tool-profiles:", err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	for _, offer := range []struct {
		title  string
		option satchel.Option
	}{
		{"full", satchel.WithTools(satchel.Tools{Profile: tools.Full})},
		{"knowledge_only", satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly})},
		{"own set", satchel.WithTools(satchel.Tools{Names: []string{"skill_load", "skill_read"}})},
		{"own set without skill_load", satchel.WithTools(satchel.Tools{Names: []string{"skill_read"}})},
		{"own set with a typo", satchel.WithTools(satchel.Tools{Names: []string{"skill_load", "skill_raed"}})},
	} {
		fmt.Fprintf(w, "%s:\n", offer.title)
		skills, err := satchel.New(satchel.WithSkillDirs("skills"), offer.option)
		if errors.Is(err, tools.ErrSet) {
			fmt.Fprintln(w, "  error:", err)
			continue
		}
		if err != nil {
			return err
		}
		for _, tool := range skills.Tools() {
			fmt.Fprintln(w, " ", tool.Name)
		}
		if err := skills.Close(); err != nil {
			return err
		}
	}
	return nil
}
