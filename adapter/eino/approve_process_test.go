package eino_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/core"
)

// episode is what one process does in TestApprovalInAnotherProcess.
type episode struct {
	Answer  string   `json:"answer"`  // answer to all questions; "" if the process asks
	Edit    string   `json:"edit"`    // "script" or "list": the part of the skill that changes first
	Replies []string `json:"replies"` // each is "tool arguments; tool arguments", or "done"
}

// report is what came of it.
type report struct {
	Ran   []string
	Asked []string
	Last  []string // tool results in the last request
}

const (
	episodeEnv = "SATCHEL_TEST_EPISODE"
	placeEnv   = "SATCHEL_TEST_PLACE"
)

// TestEpisode plays one process; it runs by itself only.
func TestEpisode(t *testing.T) {
	var e episode
	if os.Getenv(episodeEnv) == "" {
		return
	}
	if err := json.Unmarshal([]byte(os.Getenv(episodeEnv)), &e); err != nil {
		t.Fatal(err)
	}
	dir := os.Getenv(placeEnv)
	switch e.Edit {
	case "script":
		writeSkill(t, filepath.Join(dir, "skills"), "free", "license: MIT", "echo 2", true)
	case "body":
		writeSkill(t, filepath.Join(dir, "skills"), "free", "license: BSD\n---\nOTHER", "echo 1", true)
	}
	var replies []*schema.Message
	for _, r := range e.Replies {
		if r == "done" {
			replies = append(replies, say("done"))
			continue
		}
		var calls []schema.ToolCall
		for i, c := range strings.Split(r, "; ") {
			name, args, _ := strings.Cut(c, " ")
			calls = append(calls, call(fmt.Sprint("call_", i), name, args))
		}
		replies = append(replies, calling(calls...))
	}
	a := newAsking(t, dir, false, nil, replies...)
	var asks map[string]core.Ask
	if e.Answer == "" {
		asks = a.query()
	} else {
		var ids []string
		data, err := os.ReadFile(filepath.Join(dir, "ids"))
		if err == nil {
			err = json.Unmarshal(data, &ids)
		}
		if err != nil {
			t.Fatal(err)
		}
		answers := map[string]any{}
		for _, id := range ids {
			answers[id] = e.Answer
		}
		asks = a.resume(answers)
	}
	out := report{Ran: a.ran}
	var ids []string
	for id, ask := range asks {
		ids, out.Asked = append(ids, id), append(out.Asked, ask.Call.Name)
	}
	slices.Sort(out.Asked)
	if n := a.model.calls(); n > 0 {
		for _, m := range a.model.request(t, n-1) {
			if m.Role == schema.Tool {
				line, _, _ := strings.Cut(text(m), "\n")
				out.Last = append(out.Last, line[:min(len(line), 20)])
			}
		}
	}
	for file, value := range map[string]any{"ids": ids, "report": out} {
		data, err := json.Marshal(value)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// process runs an episode in a process of its own.
func process(t *testing.T, dir string, e episode) report {
	t.Helper()
	spec, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestEpisode$", "-test.count=1")
	cmd.Env = append(os.Environ(), episodeEnv+"="+string(spec), placeEnv+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var r report
	data, err := os.ReadFile(filepath.Join(dir, "report"))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestApprovalInAnotherProcess(t *testing.T) {
	const load = `skill_load {"skill":"free"}`
	for name, steps := range map[string][]struct {
		episode
		want report
	}{
		"allow": {
			{episode{Replies: []string{load, `search {"q":1}`}}, report{Asked: []string{"search"}}},
			{episode{Answer: "allow", Replies: []string{`search {"q":2}`}}, report{Ran: []string{`search {"q":1}`}, Asked: []string{"search"}, Last: []string{"loaded: free", "ran search"}}},
			{episode{Answer: "deny", Replies: []string{"done"}}, report{Last: []string{"loaded: free", "ran search", "denied: this call of"}}},
		},
		"for the session": {
			{episode{Replies: []string{load, `search {"q":1}`}}, report{Asked: []string{"search"}}},
			{episode{Answer: "session", Replies: []string{`search {"q":2}`, "send {}"}}, report{Ran: []string{`search {"q":1}`, `search {"q":2}`}, Asked: []string{"send"}, Last: []string{"loaded: free", "ran search", "ran search"}}},
			{episode{Answer: "deny", Replies: []string{"search {}", "done"}}, report{Ran: []string{"search {}"}, Last: []string{"loaded: free", "ran search", "ran search", "denied: this call of", "ran search"}}},
		},
		"deny": {
			{episode{Replies: []string{load, "search {}"}}, report{Asked: []string{"search"}}},
			{episode{Answer: "deny", Replies: []string{"done"}}, report{Last: []string{"loaded: free", "denied: this call of"}}},
		},
		// The list of a loaded skill applies to the calls after the load, and not to those before.
		"places in a message": {
			{episode{Replies: []string{`search {}; skill_load {"skill":"listed"}; send {}`}}, report{Asked: []string{"search"}}},
			{episode{Answer: "allow", Replies: []string{"done"}}, report{Ran: []string{"search {}"}, Last: []string{"ran search", "loaded: listed", "denied: send is not "}}},
		},
		"a list denies what was asked": {
			{episode{Replies: []string{`skill_load {"skill":"listed"}`, "search {}", "done"}}, report{Last: []string{"loaded: listed", "denied: search is no"}}},
		},
		// If a script has changed since the question, the host must ask again.
		"changed since the question": {
			{episode{Replies: []string{load, `skill_run {"skill":"free","command":"bash scripts/x.sh"}`}}, report{Asked: []string{"skill_run"}}},
			{episode{Edit: "script", Answer: "allow"}, report{Asked: []string{"skill_run"}}},
			{episode{Answer: "deny", Replies: []string{"done"}}, report{Last: []string{"loaded: free", "denied: this call of"}}},
		},
		// A grant for the session is valid only for the skill as it was then. The last process
		// starts the turn again, so its load is the first one.
		"changed since the approval": {
			{episode{Replies: []string{load, "search {}"}}, report{Asked: []string{"search"}}},
			{episode{Answer: "session", Replies: []string{"done"}}, report{Ran: []string{"search {}"}, Last: []string{"loaded: free", "ran search"}}},
			{episode{Edit: "body", Replies: []string{load, "search {}"}}, report{Asked: []string{"search"}, Last: []string{"loaded: free"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for i, s := range steps {
				got := process(t, dir, s.episode)
				if i == 0 && s.want.Last == nil { // the requests before the question do not matter
					got.Last = nil
				}
				if a, b := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", s.want); a != b {
					t.Fatalf("process %d: %s\nwant %s", i+1, a, b)
				}
			}
		})
	}
}
