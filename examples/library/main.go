// Command library is an agent that corrects a skill. It finds the skill, starts it, is
// corrected by its user, and patches the skill after its user has seen the difference.
// Another conversation then starts the skill as it is now.
//
// Run it in examples/, with OPENAI_API_KEY and OPENAI_MODEL set, and with
// OPENAI_BASE_URL for an endpoint other than OpenAI's:
//
//	go run ./library              # Eino's adk
//	go run ./library langchaingo
package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/library/sqlstore/sqlite"
)

func main() {
	connect := connectEino
	if len(os.Args) > 1 && os.Args[1] == "langchaingo" {
		connect = connectLangchaingo
	}
	if err := run(context.Background(), os.Stdin, os.Stdout, filepath.Join(os.TempDir(), "satchel-library.db"), connect); err != nil {
		fmt.Fprintln(os.Stderr, "library:", err)
		os.Exit(1)
	}
}

// connection begins a conversation. It returns a function that answers one prompt after another.
type connection func(ctx context.Context, skills *satchel.Runtime) (say func(ctx context.Context, prompt string) (string, error), err error)

func run(ctx context.Context, in io.Reader, w io.Writer, file string, connect connection) error {
	// snippet: open
	store, err := sqlite.Open(ctx, file)
	if err != nil {
		return err
	}
	defer store.Close()
	skills, err := library.New(store)
	if err != nil {
		return err
	}
	// end snippet
	// snippet: runtime
	ann := library.Actor{Subject: "ann", Roles: []library.Role{"editor"}}
	runtime, err := satchel.New(
		library.With(skills, library.AgentOptions{
			Actor: func(context.Context, core.SessionKey) (library.Actor, error) { return ann, nil },
		}),
		satchel.WithTools(satchel.Tools{Vocabulary: library.Vocabulary()}),
		satchel.WithApprover(func(_ context.Context, ask core.Ask) (answer core.Answer, err error) {
			fmt.Fprintf(w, "%sallow or deny? ", ask.Detail)
			_, err = fmt.Fscan(in, &answer)
			return answer, err
		}),
	)
	// end snippet
	if err != nil {
		return err
	}
	defer runtime.Close()
	if err := importSkill(ctx, skills); err != nil {
		return err
	}
	for n, prompts := range [][]string{
		{"Write the release notes for 1.4.0: exports keep time zones (#81).", "We write numbers of issues first. Remember that for the next time."},
		{"Write the release notes for 1.4.1: login answers an empty password (#85)."},
	} {
		say, err := connect(ctx, runtime)
		if err != nil {
			return err
		}
		for _, prompt := range prompts {
			fmt.Fprintln(w, "user:", prompt)
			answer, err := say(satchel.WithSession(ctx, fmt.Sprint("conversation-", n+1)), prompt)
			if err != nil {
				return err
			}
			fmt.Fprintln(w, "agent:", answer)
		}
	}
	return nil
}

// importSkill imports the skill, as a person would, unless the library has it.
func importSkill(ctx context.Context, skills *library.Library) error {
	maintainer := library.Actor{Subject: "mia", Roles: []library.Role{"maintainer"}}
	if there, err := skills.List(ctx, maintainer, library.ListQuery{}); err != nil || len(there) > 0 {
		return err
	}
	files, dir := map[string][]byte{}, os.DirFS(filepath.Join("skills", "release-notes"))
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[name], err = fs.ReadFile(dir, name)
		}
		return err
	})
	if err == nil {
		_, err = skills.Import(ctx, maintainer, "release-notes", files, false, "the first version")
	}
	return err
}
