package library_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/tools"
)

// forkHost is a host whose agent runs a skill of a library by runSkill. The agent of a fork answers
// with say.
type forkHost struct {
	runtime *satchel.Runtime
	say     func(shown string) string
	runs    []satchel.ForkRequest
	shown   []string // the first request of each fork
	calls   int
}

// newForkHost has the skill report, which asks to run as an agent of its own, with a parameter, the
// skill plain, and quiet, which agents/openai.yaml hides from models.
func newForkHost(t *testing.T, names ...string) *forkHost {
	t.Helper()
	l, err := library.New(library.NewMemory())
	if err != nil {
		t.Fatal(err)
	}
	for name, front := range map[string]string{"report": "context: fork\nmetadata: {parameters: '[{\"name\":\"topic\",\"required\":true}]'}\n", "plain": "license: MIT\n", "quiet": "license: MIT\n"} {
		shared := false
		text := "---\nname: " + name + "\ndescription: Does " + name + ".\n" + front + "---\nTHE BODY on {{topic}}\n"
		files := map[string][]byte{"SKILL.md": []byte(text), "more.md": []byte("THE DOC\n")}
		if name == "quiet" {
			files["agents/openai.yaml"] = []byte("policy: {allow_implicit_invocation: false}\n")
		}
		if _, err := l.Edit(t.Context(), mia, library.Edit{Action: "import", Name: name, Private: &shared, Files: files}); err != nil {
			t.Fatal(err)
		}
	}
	h := &forkHost{say: func(string) string { return "THE REPORT" }}
	h.runtime = openLibrary(t, l, satchel.WithFork(satchel.Fork{Run: h.run, Skills: names}))
	return h
}

// openLibrary returns a runtime with the skills of a library, which runSkill loads.
func openLibrary(t *testing.T, l *library.Library, options ...satchel.Option) *satchel.Runtime {
	t.Helper()
	actor := func(context.Context, core.SessionKey) (library.Actor, error) { return mia, nil }
	runtime, err := satchel.New(append(options,
		satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly, Vocabulary: library.Vocabulary()}),
		library.With(l, library.AgentOptions{Tenant: mia.Tenant, Actor: actor}),
	)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := runtime.Close(); err != nil {
			t.Error(err)
		}
	})
	return runtime
}

func (h *forkHost) run(ctx context.Context, r satchel.ForkRequest) (string, error) {
	view, err := r.Runtime.Prepare(ctx, core.Request{Key: r.Key, Messages: []core.Message{{Role: core.User, Text: r.Task, Origin: 1}}})
	if err != nil {
		return "", err
	}
	var shown strings.Builder
	for _, m := range view.Messages {
		fmt.Fprintf(&shown, "%s\n", m.Text)
	}
	h.runs, h.shown = append(h.runs, r), append(h.shown, shown.String())
	return h.say(shown.String()), nil
}

// call makes a call of runSkill in a turn of its own.
func (h *forkHost) call(t *testing.T, arguments string) (answer string) {
	t.Helper()
	h.calls++
	key := core.SessionKey{Session: fmt.Sprint("s", h.calls), Agent: "main"}
	if _, err := h.runtime.Prepare(t.Context(), core.Request{Key: key, Messages: []core.Message{{Role: core.User, Text: "Go."}}}); err != nil {
		t.Fatal(err)
	}
	c := core.ToolCall{ID: "1", Name: "runSkill", Arguments: arguments}
	if err := h.runtime.Hooks().Observe(t.Context(), key, []core.ToolCall{c}); err != nil {
		t.Fatal(err)
	}
	answer, err := h.runtime.CallTool(t.Context(), key, c)
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.runtime.CallTool(t.Context(), key, c)
	if err != nil || again != answer {
		t.Errorf("the call is answered with\n%s\nand repeated with\n%s (%v)", answer, again, err)
	}
	return answer
}

// A skill that asks for it runs as an agent of its own, with its parameters and docs. The answer of
// runSkill has that agent's answer, and the skill is not loaded.
func TestRunSkillForks(t *testing.T) {
	h := newForkHost(t)
	answer := h.call(t, `{"skill":"report","parameters":{"topic":"Mars"},"docs":["more.md","none.md"]}`)
	var got struct {
		Status, Name, Answer string
		Parameters           map[string]string
		Warnings             []string
		Receipt              string
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil || got.Status != "forked" || got.Name != "report" || got.Answer != "[forked: report, 1 model call]\nTHE REPORT" || got.Parameters["topic"] != "Mars" || got.Receipt != "" {
		t.Errorf("answer %s (%v)", answer, err)
	}
	if !slices.Contains(got.Warnings, `the skill has no doc "none.md"`) {
		t.Errorf("warnings %q", got.Warnings)
	}
	if len(h.runs) != 1 || h.runs[0].Text != "THE BODY on Mars" || h.runs[0].Skill.Name != "report" || !strings.HasPrefix(h.runs[0].Key.Agent, "main/fork:report#") {
		t.Fatalf("%d forks: %+v", len(h.runs), h.runs)
	}
	for _, want := range []string{"THE BODY on Mars", "THE DOC", `Carry out the skill "report", which is loaded.`} {
		if strings.Count(h.shown[0], want) != 1 {
			t.Errorf("the fork is shown %q %d times:\n%s", want, strings.Count(h.shown[0], want), h.shown[0])
		}
	}
	loaded, err := h.runtime.Loaded(satchel.WithSession(t.Context(), "s1"))
	if err != nil || len(loaded) != 0 {
		t.Errorf("loaded %+v, %v", loaded, err)
	}
}

// A call that cannot start the skill, and a skill that does not ask for it, run no agent. One that the
// host names does.
func TestRunSkillForksWhatAsksForIt(t *testing.T) {
	for _, tt := range []struct {
		arguments, want string
		named           []string
		forks           int
	}{
		{`{"skill":"plain"}`, `"status":"loaded"`, nil, 0},
		{`{"skill":"plain"}`, `"status":"forked"`, []string{"plain"}, 1},
		{`{"skill":"report"}`, `parameter \"topic\" is missing`, nil, 0},
		{`{"skill":"report","action":"inspect"}`, `"action":"inspect"`, nil, 0},
		{`{"skill":"none"}`, `"error":"unknown"`, nil, 0},
	} {
		h := newForkHost(t, tt.named...)
		if answer := h.call(t, tt.arguments); !strings.Contains(answer, tt.want) || len(h.runs) != tt.forks {
			t.Errorf("%s with %q: %d forks, %s", tt.arguments, tt.named, len(h.runs), answer)
		}
	}
}

// A skill that agents/openai.yaml hides from models is not started by one, and runs no agent.
func TestRunSkillObeysTheAgentFile(t *testing.T) {
	h := newForkHost(t, "quiet")
	want := `"error":"blocked","message":"skill \"quiet\" may not be started by a model (agents/openai.yaml); ask the user to start it"`
	if answer := h.call(t, `{"skill":"quiet"}`); !strings.Contains(answer, want) || len(h.runs) != 0 {
		t.Errorf("%d forks, %s", len(h.runs), answer)
	}
	if skill, err := h.runtime.Catalog().Snapshot().Resolve("quiet"); err != nil || !skill.Hidden {
		t.Errorf("in the catalog it is hidden: %t, %v", skill.Hidden, err)
	}
}

// An answer that is too long is cut, so that the JSON stays whole.
func TestRunSkillCutsTheAnswerOfAFork(t *testing.T) {
	h := newForkHost(t)
	h.say = func(string) string { return strings.Repeat("ä\"\n", 100_000) }
	answer := h.call(t, `{"skill":"report","parameters":{"topic":"x"}}`)
	var got struct{ Answer string }
	if err := json.Unmarshal([]byte(answer), &got); err != nil || len(answer) > 64<<10 || len(got.Answer) < 10<<10 || !strings.Contains(got.Answer, "[the answer was cut: it had 400030 bytes") {
		t.Errorf("%d bytes (%v), which end with %q", len(answer), err, answer[len(answer)-200:])
	}
}

// The body of the skill that a fork carries out is in each of its requests, also where other skills take
// the place of loaded ones.
func TestForkKeepsItsTask(t *testing.T) {
	for _, mode := range []loadmode.Mode{loadmode.Adaptive, loadmode.Once} {
		l, err := library.New(library.NewMemory())
		if err != nil {
			t.Fatal(err)
		}
		for name, front := range map[string]string{"report": "context: fork\n", "plain": ""} {
			text := "---\nname: " + name + "\ndescription: Does " + name + ".\n" + front + "---\nTHE BODY of " + name + "\n"
			if _, err := l.Edit(t.Context(), mia, library.Edit{Action: "import", Name: name, Files: map[string][]byte{"SKILL.md": []byte(text)}}); err != nil {
				t.Fatal(err)
			}
		}
		requests := 0
		run := func(ctx context.Context, r satchel.ForkRequest) (string, error) {
			messages := []core.Message{{Role: core.User, Text: r.Task, Origin: 1}}
			for ; requests < 3; requests++ {
				view, err := r.Runtime.Agent(r.Key).Prepare(ctx, core.Request{Messages: messages})
				if err != nil {
					return "", err
				}
				var shown strings.Builder
				for _, m := range view.Messages {
					shown.WriteString(m.Text)
				}
				if n := strings.Count(shown.String(), "THE BODY of report"); n != 1 {
					t.Errorf("%v: the task stands %d times in request %d\n%s", mode, n, requests+1, shown.String())
				}
				call := core.ToolCall{ID: fmt.Sprint("f", requests), Name: "runSkill", Arguments: `{"name":"plain"}`}
				if err := r.Runtime.Hooks().Observe(ctx, r.Key, []core.ToolCall{call}); err != nil {
					return "", err
				}
				opened, err := r.Runtime.Agent(r.Key).Open(ctx, call)
				if err != nil {
					return "", err
				}
				answer, err := opened.Run(ctx)
				opened.Close()
				if err != nil {
					return "", err
				}
				messages = append(messages, core.Message{Role: core.Assistant, Calls: []core.ToolCall{call}, Origin: len(messages)},
					core.Message{Role: core.ToolResult, CallID: call.ID, Tool: call.Name, Text: answer, Origin: len(messages) + 1})
			}
			return "R", nil
		}
		h := &forkHost{runtime: openLibrary(t, l, satchel.WithFork(satchel.Fork{Run: run}), satchel.WithLoading(satchel.Loading{Mode: mode, Max: 1}))}
		if answer := h.call(t, `{"name":"report"}`); requests != 3 || !strings.Contains(answer, "R") {
			t.Errorf("%v: answer %q after %d requests", mode, answer, requests)
		}
	}
}
