//go:build unix

package main

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/internal/testing/servertest"
	"github.com/satchel-go/satchel/satcheltest"
)

// libraries are addresses of empty libraries, one in each database.
var libraries = map[string]func(t *testing.T) string{
	"sqlite": func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "library.db") },
	"postgres": func(t *testing.T) string {
		at, err := url.Parse(servertest.Shared(t, "postgres").URL)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := pgx.Connect(t.Context(), at.String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		name := "chat_" + fmt.Sprint(os.Getpid()) + "_" + regexp.MustCompile(`\W+`).ReplaceAllString(strings.ToLower(t.Name()), "_")
		if _, err := conn.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
			t.Fatal(err)
		}
		at.Path = "/" + name
		return at.String()
	},
}

// satchelIn runs a command of the program that must succeed.
func satchelIn(t *testing.T, args ...string) string {
	t.Helper()
	got := program(t, nil, "", args...)
	if got.code != cli.ExitDone {
		t.Fatalf("%q ends with %d: %s", args, got.code, got.err)
	}
	return got.out
}

// TestChatEditsItsSkills plays one conversation over HTTP in both frameworks and over
// both databases. The answers are the same in all of them, and the next conversation
// starts the skill as it was edited.
func TestChatEditsItsSkills(t *testing.T) {
	const text = "---\nname: pdf\ndescription: Fill in PDF forms.\n---\n\n# PDF\n\nUse the form tool.\nThen save it.\n"
	skills := skillDir(t, map[string]string{"pdf/SKILL.md": text})
	id := regexp.MustCompile(`db:[0-9A-Z]{26}`)
	var first []string
	for database, open := range libraries {
		t.Run(database, func(t *testing.T) {
			each(t, func(t *testing.T, flags ...string) {
				address := open(t)
				satchelIn(t, "library", "migrate", "--library", address)
				ref := strings.Fields(satchelIn(t, "library", "import", "--library", address, skills))[1]
				update := func(fields map[string]any) satcheltest.Step {
					all := map[string]any{"action": "patch", "skill": "pdf", "expectedVersionRef": ref}
					for k, v := range fields {
						all[k] = v
					}
					return satcheltest.Do("updateSkill", all)
				}
				run := func(fields map[string]any) satcheltest.Step { return satcheltest.Do("runSkill", fields) }
				patch := "@@ -9,9 @@\n-Use the form tool.\n+Use a form tool.\n Then save it.\n"
				steps := []satcheltest.Step{
					run(map[string]any{}), run(map[string]any{"query": "forms", "source": "db"}), run(map[string]any{"skill": "pfd"}),
					run(map[string]any{"action": "inspect", "skill": "pdf"}), run(map[string]any{"skill": "pdf"}),
					update(map[string]any{"patch": patch, "dryRun": true}), update(map[string]any{"patch": patch, "reason": "said so"}), update(map[string]any{"patch": patch}),
					update(map[string]any{"patch": "-Then save it.\n+Save it.\n"}), update(map[string]any{"patch": patch, "expectedVersionRef": ""}),
					update(map[string]any{"action": "archive", "skill": "nothing"}),
				}
				flags = append(flags, "--library", address, "--vocabulary", "unified", "--profile", "knowledge_only", "--role", "editor", "--as", "eve", "--json")
				plan := satcheltest.Plan(satcheltest.Turn{Steps: steps, Needs: []string{satcheltest.SkillOpen("pdf")}, Answer: "Done."})
				got := converseWith(t, map[string]string{typedOnTerminal: "yes\n"}, plan, "", append(slices.Clone(flags), "Correct it.")...)
				if got.code != 0 {
					t.Fatalf("code %d, err %q, out %q", got.code, got.err, got.out)
				}
				if !strings.Contains(got.err, "- Use the form tool.") {
					t.Errorf("the question is %q", got.err)
				}
				if bytes.Contains(got.requests[0].Raw, []byte("pdf")) {
					t.Errorf("the first request names a skill: %s", got.requests[0].Raw)
				}
				answers := append(got.results(t, "runSkill"), got.results(t, "updateSkill")...)
				for i := range answers {
					answers[i] = id.ReplaceAllString(answers[i], "db:ID")
				}
				if first == nil {
					first = answers
				}
				if diff := cmp.Diff(first, answers); diff != "" {
					t.Errorf("another framework or database (-), this one (+):\n%s", diff)
				}
				for i, says := range []string{"dry_run", "applied", "unchanged", "conflict", "expectedVersionRef is missing", "unknown"} {
					if got := answers[len(answers)-6+i]; !strings.Contains(got, says) {
						t.Errorf("edit %d is answered %s, want %q", i+1, got, says)
					}
				}
				next := converse(t, satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{run(map[string]any{"skill": "pdf"})}, Needs: []string{"Use a form tool."}, Answer: "Read."}),
					"", append(slices.Clone(flags), "Read it.")...)
				if next.code != 0 {
					t.Errorf("the next conversation: code %d, err %q", next.code, next.err)
				}
			})
		})
	}
}
