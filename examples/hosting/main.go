// Command hosting shows what a program with long conversations does. It keeps their state in a
// directory, says when a turn begins, reports what happens, and ends sessions. It has no
// framework and no model.
//
// Run it in examples/: go run ./hosting
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

func main() {
	dir, err := os.MkdirTemp("", "hosting-")
	if err == nil {
		err = errors.Join(run(context.Background(), os.Stdout, dir), os.RemoveAll(dir))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hosting:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer, dir string) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil)) // what goes wrong, such as a skill that cannot be read
	// snippet: store
	store, err := session.OpenDirectory(dir)
	if err != nil {
		return err
	}
	defer store.Close()
	report := func(_ context.Context, e core.Event) { fmt.Fprintln(w, e.Kind, e.Skill) }
	skills, err := satchel.New(
		satchel.WithSkillDirs("skills"), satchel.WithStore(store),
		satchel.WithEvents(report), satchel.WithLogger(log),
	)
	// end snippet
	if err != nil {
		return err
	}
	defer skills.Close()

	// snippet: turn
	ctx = satchel.WithSession(ctx, "conversation-42")                 // without it, state lives for one run
	ctx = satchel.BeginTurn(ctx, "message-7")                         // only where user messages do not tell
	ctx = satchel.WithLoads(ctx, satchel.Load{Skill: "commit-style"}) // loaded before the model is called
	// end snippet

	// The adapters prepare each request; here it is done by hand.
	if _, err := skills.Prepare(ctx, core.Request{
		Key:      core.SessionKey{Session: "conversation-42"},
		Messages: []core.Message{{Role: core.User, Text: "Write the commit message for #81."}},
	}); err != nil {
		return err
	}
	return end(ctx, w, skills)
}

func end(ctx context.Context, w io.Writer, skills *satchel.Runtime) error {
	// snippet: end
	loaded, err := skills.Loaded(ctx)
	if err != nil {
		return err
	}
	for _, l := range loaded {
		fmt.Fprintln(w, "loaded:", l.Skill)
	}
	return skills.EndSession(ctx, "conversation-42")
	// end snippet
}
