package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

// storyOfTurns is a conversation with calls in its turns: texts beside calls, two calls
// at once, ids that are missing, arguments that are none or no JSON, an unknown tool.
func storyOfTurns() satcheltest.Script {
	pdf, broken := satcheltest.ToolCall("skill_load", `{"skill":"pdf"}`), satcheltest.ToolCall("skill_load", `{"skill": "pd`)
	nobody, docs := satcheltest.ToolCall("nobody", ""), satcheltest.ToolCall("skill_list_docs", `{"skill":"pdf"}`)
	pdf.ID, broken.ID, nobody.ID, docs.ID = "\x00", "x", "y", "z"
	return plan(
		satcheltest.Turn{Steps: []satcheltest.Step{{Text: "let me look", Calls: []core.ToolCall{pdf, broken}}, calls(nobody)}, Answer: "one"},
		satcheltest.Turn{Steps: []satcheltest.Step{calls(docs)}, Answer: "two"},
		satcheltest.Turn{Answer: "three"},
	)
}

// messagesOf are the messages of a request as they were sent.
func messagesOf(t *testing.T, r satcheltest.Request) []json.RawMessage {
	t.Helper()
	var body struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(r.Raw, &body); err != nil {
		t.Fatal(err)
	}
	return body.Messages
}

// The first request of a turn begins with the last of the turn before, byte for byte.
func TestChatKeepsToolMessages(t *testing.T) {
	skills := testSkills(t)
	each(t, func(t *testing.T, flags ...string) {
		got := converse(t, storyOfTurns(), "", append(flags, "--load-mode", "session", "--skills", skills, "first", "second", "third")...)
		if got.code != 0 || len(got.requests) != 6 {
			t.Fatalf("code %d after %d requests, err %q", got.code, len(got.requests), got.err)
		}
		for i := 1; i < len(got.requests); i++ {
			before, after := messagesOf(t, got.requests[i-1]), messagesOf(t, got.requests[i])
			for j, m := range before {
				if !bytes.Equal(m, after[j]) {
					t.Errorf("message %d of request %d was\n%s\nand is\n%s", j, i+1, m, after[j])
				}
			}
		}
		if !got.requests[5].Contains("let me look") || !got.requests[5].Contains("there is no tool") {
			t.Error("the last request lacks what happened in the first turn")
		}
	})
}

// A conversation goes on in another process with the bytes that one process sends, in
// every load mode.
func TestChatResumes(t *testing.T) {
	t.Parallel()
	skills := testSkills(t)
	for _, mode := range []string{"turn", "once", "session"} {
		t.Run(mode, func(t *testing.T) {
			each(t, func(t *testing.T, flags ...string) {
				flags = append(flags, "--load-mode", mode, "--skills", skills)
				var want, parts [][]byte
				for _, r := range converse(t, storyOfTurns(), "", append(flags, "first", "second", "third")...).requests {
					want = append(want, r.Raw)
				}
				store := filepath.Join(t.TempDir(), "kept")
				for _, prompt := range []string{"first", "second", "third"} {
					got := converse(t, storyOfTurns(), "", append(flags, "--store", store, "--resume", "talk", prompt)...)
					if got.code != 0 {
						t.Fatalf("code %d, err %q", got.code, got.err)
					}
					for _, r := range got.requests {
						parts = append(parts, r.Raw)
					}
				}
				if !slices.EqualFunc(want, parts, bytes.Equal) {
					t.Errorf("one process (-), three (+):\n%s", cmp.Diff(want, parts))
				}
			})
		})
	}
}

// A new conversation of a store is announced by its name, and a failed turn is not in it.
func TestChatStoreNamesConversation(t *testing.T) {
	each(t, func(t *testing.T, flags ...string) {
		store := t.TempDir()
		fails := func(r satcheltest.Request) satcheltest.Response {
			if r.Contains("bad") {
				return satcheltest.Response{Status: 400, Err: "no"}
			}
			return satcheltest.Response{Text: "fine"}
		}
		got := converse(t, fails, "", append(flags, "--store", store, "good", "bad")...)
		_, rest, _ := strings.Cut(got.err, "--resume ")
		id, _, told := strings.Cut(rest, " ")
		if got.code != cli.ExitFailed || !told {
			t.Fatalf("code %d, err %q", got.code, got.err)
		}
		got = converse(t, fails, "", append(flags, "--store", store, "--resume", id, "more")...)
		if got.code != 0 || got.err != "" || len(got.requests[0].Messages) != 3 || got.requests[0].Contains("bad") {
			t.Errorf("code %d, err %q, sent %+v", got.code, got.err, got.requests[0].Messages)
		}
	})
}

func TestChatStoreErrors(t *testing.T) {
	env := map[string]string{"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}
	damaged := t.TempDir()
	if got := converse(t, steps(), "", "chat", "--store", damaged, "--resume", "a", "hi"); got.code != 0 {
		t.Fatalf("code %d, err %q", got.code, got.err)
	}
	files, err := filepath.Glob(filepath.Join(damaged, "messages", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("Glob: got %v, error %v, want 1 entry", files, err)
	}
	if err := os.WriteFile(files[0], []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for says, args := range map[string][]string{
		`read conversation "a"`: {"--store", damaged, "--resume", "a"},
		"--store: ":             {"--store", files[0]},
	} {
		got := program(t, env, "", append(append([]string{"chat"}, args...), "hi")...)
		if got.code != cli.ExitUsage || !strings.Contains(got.err, says) || strings.Count(got.err, "\n") != 1 {
			t.Errorf("%v: code %d, err %q", args, got.code, got.err)
		}
	}
}
