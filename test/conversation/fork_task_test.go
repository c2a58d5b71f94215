package conversation_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

const taskRefusal = "not unloaded: report (it is your task, and stays loaded to its end)"

// calling is a loop whose model makes the calls one after the other, each in a response of its own.
func calling(calls ...string) *forkLoop {
	return &forkLoop{say: func(_ context.Context, _ satchel.ForkRequest, n int, _ []core.Message) (said, error) {
		if n < len(calls) {
			return said{calls: calls[n : n+1]}, nil
		}
		return said{text: "R"}, nil
	}}
}

// The body of the skill that a fork carries out is in each of its requests, once, and what came before
// stays. The requests of the agent above keep their bytes.
func TestForkKeepsItsTask(t *testing.T) {
	type vocabulary struct {
		tools satchel.Tools
		load  string
		calls []string // of the fork
	}
	vocabularies := map[string]vocabulary{
		"default": {satchel.Tools{}, `skill_load {"skill":"report"}`, []string{
			`skill_load {"skill":"plain","mode":"replace"}`, `skill_load {"skill":"strict"}`, `skill_unload {"skill":"report"}`, `skill_load {"skill":"report"}`,
			`skill_unload {"all":true}`, `skill_load {"skills":["plain","strict"],"mode":"replace"}`,
		}},
		"runtime-spec": {satchel.Tools{Vocabulary: tools.Vocabulary{Name: tools.RuntimeSpec}}, `skills_load {"names":["report"]}`, []string{
			`skills_load {"names":["plain"]}`, `skills_load {"names":["strict"]}`, `skills_unload {"names":["report"]}`, `skills_unload {"all":true}`,
		}},
	}
	for _, mode := range []loadmode.Mode{loadmode.Adaptive, loadmode.Turn, loadmode.Once, loadmode.Session} {
		for _, placement := range []processors.Placement{processors.InToolResult, processors.InSystem} {
			for name, v := range vocabularies {
				t.Run(fmt.Sprint(mode, " ", placement, " ", name), func(t *testing.T) {
					loop := calling(v.calls...)
					c := openForks(t, satchel.Fork{Run: loop.run}, satchel.WithTools(v.tools), satchel.WithLoading(satchel.Loading{Mode: mode, Placement: placement, Max: 2}))
					before := c.View()
					if got := c.Calls(v.load)[0]; !strings.Contains(got, fmt.Sprintf("[forked: report, %d model calls", len(v.calls)+1)) {
						t.Fatalf("answer %q", got)
					}
					for i, view := range loop.views {
						if n := strings.Count(chattest.Shown(view), "REPORT BODY"); n != 1 {
							t.Errorf("the body stands %d times in request %d of the fork\n%s", n, i+1, chattest.Shown(view))
						}
						if i > 0 && placement == processors.InToolResult && view[1].Text != loop.views[0][1].Text {
							t.Errorf("the task has changed to %q", view[1].Text)
						}
					}
					for i, call := range v.calls {
						if strings.Contains(call, "unload") && !strings.Contains(loop.said[i], taskRefusal) {
							t.Errorf("%s: %q", call, loop.said[i])
						} else if strings.Contains(loop.said[i], "unloaded: report") && !strings.Contains(call, "unload") {
							t.Errorf("%s: %q", call, loop.said[i])
						}
					}
					after := c.View()
					for i := range before {
						if before[i].Text != after[i].Text {
							t.Errorf("message %d of the agent has changed: %q", i, after[i].Text)
						}
					}
				})
			}
		}
	}
}

// The task does not count against the cap, and leaves neither for it nor for the content budget.
func TestForkTaskAndLimits(t *testing.T) {
	for name, test := range map[string]struct {
		loading satchel.Loading
		want    []string // the answers, from their beginnings
	}{
		"cap":    {satchel.Loading{Max: 1}, []string{"loaded: plain\n[skill#2 ", "loaded: strict\nunloaded to make room (at most 1): plain"}},
		"budget": {satchel.Loading{Budget: tools.Budget{Warn: -1, Max: 5}}, []string{"error: about ", "error: about "}},
	} {
		for _, mode := range []loadmode.Mode{loadmode.Adaptive, loadmode.Session, loadmode.Once} {
			t.Run(fmt.Sprint(name, " ", mode), func(t *testing.T) {
				test.loading.Mode = mode
				loop := calling(`skill_load {"skill":"plain"}`, `skill_load {"skill":"strict"}`)
				c := openForks(t, satchel.Fork{Run: loop.run}, satchel.WithLoading(test.loading))
				c.Calls(`skill_load {"skill":"report"}`)
				if len(loop.said) != 2 || !strings.HasPrefix(loop.said[0], test.want[0]) || !strings.HasPrefix(loop.said[1], test.want[1]) {
					t.Errorf("answers %q", loop.said)
				}
				if name == "budget" && !strings.Contains(loop.said[0], "at most 5 may be: what stays loaded leaves no room for it (largest: report, ") {
					t.Errorf("answer %q", loop.said[0])
				}
				for i, view := range loop.views {
					if !strings.Contains(chattest.Shown(view), "REPORT BODY") {
						t.Errorf("request %d lacks the task\n%s", i+1, chattest.Shown(view))
					}
				}
			})
		}
	}
}

// Neither the host's Clear nor its Compact, nor a second turn, nor a cut history ends the task.
func TestForkTaskAndTheHost(t *testing.T) {
	for _, mode := range []loadmode.Mode{loadmode.Adaptive, loadmode.Turn, loadmode.Once, loadmode.Session} {
		t.Run(mode.String(), func(t *testing.T) {
			var shown []string
			var loaded [][]satchel.Loaded
			run := func(ctx context.Context, r satchel.ForkRequest) (string, error) {
				own := adapter.WithKey(ctx, r.Key)
				task := core.Message{Role: core.User, Text: r.Task, Origin: 1}
				said := core.Message{Role: core.Assistant, Text: "so far", Origin: 2}
				prepare := func(ctx context.Context, isSummary bool, messages ...core.Message) error {
					view, err := r.Runtime.Prepare(ctx, core.Request{Key: r.Key, Messages: messages, Summary: isSummary})
					if err != nil {
						return err
					}
					shown = append(shown, chattest.Shown(view.Messages))
					now, err := r.Runtime.Loaded(own)
					loaded = append(loaded, now)
					if err != nil {
						return err
					}
					return r.Runtime.Hooks().Observe(ctx, r.Key, nil)
				}
				steps := []func() error{
					func() error { return prepare(ctx, false, task) },
					func() error { return r.Runtime.Clear(own) },
					func() error { return prepare(ctx, false, task, said) },
					func() error { return r.Runtime.Compact(own, "report") },
					func() error {
						return prepare(satchel.BeginTurn(ctx, "second"), false, task, said, core.Message{Role: core.User, Text: "go on", Origin: 3})
					},
					func() error {
						return prepare(satchel.BeginTurn(ctx, "third"), true, core.Message{Role: core.User, Text: "a summary of it", Origin: 1, Rewritten: true}, core.Message{Role: core.User, Text: "and on", Origin: 2})
					},
				}
				for i, step := range steps {
					if err := step(); err != nil {
						return "", fmt.Errorf("step %d: %w", i, err)
					}
				}
				return "R", nil
			}
			files := forkSkills()
			files["report/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: report\ndescription: Reports.\ncontext: fork\n---\n# Report\n\nREPORT BODY\n\n" + strings.Repeat("One more line of it.\n\n", 200))}
			c := chattest.NewChat(t, chattest.Open(t, files, satchel.WithFork(satchel.Fork{Run: run}), satchel.WithLoading(satchel.Loading{
				Mode: mode, Summary: processors.SummarySkip, Budget: tools.Budget{Warn: 100, Max: -1},
			}))).Say(core.User, "go")
			c.View()
			if got := c.Calls("skill_load report")[0]; !strings.HasSuffix(got, "\nR") || len(shown) != 4 {
				t.Fatalf("answer %q after %d requests", got, len(shown))
			}
			for i, text := range shown {
				if strings.Count(text, "REPORT BODY") != 1 || strings.Count(text, "One more line of it.") != 200 || len(loaded[i]) != 1 {
					t.Errorf("request %d, loaded %+v\n%.3000s", i+1, loaded[i], text)
				}
			}
		})
	}
}

// A trace says that the task never leaves.
func TestTraceOfATask(t *testing.T) {
	var leaves []string
	c := openForks(t, satchel.Fork{Run: func(ctx context.Context, r satchel.ForkRequest) (string, error) {
		view, err := r.Runtime.Agent(r.Key).Prepare(ctx, core.Request{Messages: []core.Message{{Role: core.User, Text: r.Task, Origin: 1}}})
		if err != nil {
			return "", err
		}
		for _, text := range view.Trace.Texts {
			leaves = append(leaves, text.Skill+" "+text.Leaves)
		}
		return "R", nil
	}}, satchel.WithTrace(noTracer{}), satchel.WithLoading(satchel.Loading{Mode: loadmode.Once}))
	c.Calls("skill_load report")
	chattest.Same(t, "texts", leaves, "report never")
}

// A load of the task with other arguments brings a text that supersedes it. In mode Once that text
// leaves, and the task stays.
func TestForkTaskWithOtherArguments(t *testing.T) {
	files := forkSkills()
	files["report/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: report\ndescription: Reports.\ncontext: fork\narguments: [topic]\n---\nBODY on $topic\n")}
	load := `skill_load {"skill":"report","arguments":"b"}`
	loop := calling(load, "look x", load, `skill_unload {"skill":"report"}`)
	var completed []string
	c := chattest.NewChat(t, chattest.Open(t, files, satchel.WithFork(satchel.Fork{Run: loop.run}), satchel.WithLoading(satchel.Loading{Mode: loadmode.Once}),
		satchel.WithEvents(func(_ context.Context, e core.Event) {
			if e.Kind == core.SkillCompleted {
				completed = append(completed, e.Skill+" "+e.Detail)
			}
		}))).Say(core.User, "go")
	c.View()
	c.Calls(`skill_load {"skill":"report","arguments":"a"}`)
	if len(loop.views) != 5 {
		t.Fatalf("%d requests", len(loop.views))
	}
	for i, want := range []int{0, 1, 0, 1, 0} {
		shown := chattest.Shown(loop.views[i])
		if strings.Count(shown, "BODY on a") != 1 || strings.Count(shown, "BODY on b") != want || strings.Count(shown, "This supersedes every earlier text of skill report.") != want {
			t.Errorf("request %d, want %d texts that supersede the task\n%s", i+1, want, shown)
		}
	}
	if !strings.Contains(loop.said[3], taskRefusal) {
		t.Errorf("the unload is answered %q", loop.said[3])
	}
	chattest.Same(t, "completed", completed, "report turn")
}

// A fork whose request cannot be prepared has made no model call.
func TestForkThatCannotBegin(t *testing.T) {
	for name, test := range map[string]struct{ load, want string }{
		"budget": {
			`skill_load {"skill":"report"}`,
			"its task is too long for the content budget: about 3 tokens of skills would be in view, at most 2 may be]",
		},
		"docs": {`skill_load {"skill":"audit","docs":["none.md"]}`, `unknown doc "none.md" of "audit"]`},
	} {
		t.Run(name, func(t *testing.T) {
			loop := answering("R")
			loading := satchel.Loading{}
			if name == "budget" {
				loading.Budget = tools.Budget{Warn: 1, Max: 2}
			}
			var ended []string
			c := openForks(t, satchel.Fork{Run: loop.run}, satchel.WithLoading(loading), satchel.WithEvents(func(_ context.Context, e core.Event) {
				if e.Kind == core.ForkEnded {
					ended = append(ended, e.Detail)
				}
			}))
			skill := strings.SplitN(test.load, `"`, 5)[3]
			want := "[forked: " + skill + ", 0 model calls]\n[not finished: it could not begin: " + test.want
			if got := c.Calls(test.load)[0]; got != want || len(loop.views) != 0 {
				t.Errorf("%d requests, answer %q, want %q", len(loop.views), got, want)
			}
			if len(ended) != 1 || !strings.HasPrefix(ended[0], "it could not begin: ") {
				t.Errorf("ended with %q", ended)
			}
		})
	}
	t.Run("store", func(t *testing.T) {
		store := &failingPins{Store: session.NewMemory()}
		loop := answering("R")
		c := openForks(t, satchel.Fork{Run: func(ctx context.Context, r satchel.ForkRequest) (string, error) {
			store.fails = true
			defer func() { store.fails = false }()
			return loop.run(ctx, r)
		}}, satchel.WithStore(store))
		if got := c.Calls(`skill_load {"skill":"report"}`)[0]; !strings.HasPrefix(got, "[forked: report, 0 model calls]\n[not finished: it could not begin: pin content ") {
			t.Errorf("answer %q", got)
		}
	})
}

// failingPins is a store that keeps no text while fails is set.
type failingPins struct {
	session.Store
	fails bool
}

func (s *failingPins) Pin(ctx context.Context, id, digest, text string) error {
	if s.fails {
		return io.ErrShortWrite
	}
	return s.Store.Pin(ctx, id, digest, text)
}
