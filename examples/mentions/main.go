// Command mentions loads a skill that a user names in a message, suggests one that another
// message is likely to mean, and prints what happened and what the model sees.
//
// Run it in examples/: go run ./mentions
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mentions:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	skills, err := satchel.New(
		satchel.WithSkillDirs("skills"),
		satchel.WithActivation(satchel.Activation{Mentions: satchel.Dollar | satchel.Slash, Suggest: true, Most: 3}),
		satchel.WithEvents(func(_ context.Context, e core.Event) {
			if e.Phase != "" && e.Skill != "" {
				fmt.Fprintln(w, " ", strings.TrimSpace(fmt.Sprintln(e.Phase, e.Skill, e.Detail)))
			}
		}),
	)
	if err != nil {
		return err
	}
	defer skills.Close()
	for i, text := range []string{"Use $commit-style, not $HOME.", "Please triage this log: what failed first?"} {
		fmt.Fprintln(w, text)
		key := core.SessionKey{Session: fmt.Sprint("conversation-", i), Agent: "a"}
		view, err := skills.Prepare(ctx, core.Request{Key: key, Messages: []core.Message{{Role: core.User, Text: text}}})
		if err != nil {
			return err
		}
		last := view.Messages[len(view.Messages)-1]
		fmt.Fprintf(w, "  told: %.46s\n", strings.TrimSpace(last.Added))
	}
	return nil
}
