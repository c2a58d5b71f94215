package conversation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// forkSkills are report and audit, which ask to run as agents of their own, and plain.
func forkSkills() fstest.MapFS {
	skill := func(name, head string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: Does " + name + ".\n" + head + "---\n" + strings.ToUpper(name) + " BODY\n")}
	}
	return fstest.MapFS{
		"report/SKILL.md": skill("report", "context: fork\n"),
		"audit/SKILL.md":  skill("audit", "context: fork\n"),
		"plain/SKILL.md":  skill("plain", ""),
		"strict/SKILL.md": skill("strict", "allowed-tools: Read\n"),
	}
}

// said is what the model of a fork says to a request: calls, as those of chattest.Chat, or an
// answer.
type said struct {
	text  string
	calls []string
}

// forkLoop is a host's own loop for forks. say answers the n-th request of a fork, from 0.
type forkLoop struct {
	say func(ctx context.Context, r satchel.ForkRequest, n int, view []core.Message) (said, error)

	mu    sync.Mutex
	runs  []string
	views [][]core.Message
	said  []string // the answers to calls
}

func (l *forkLoop) run(ctx context.Context, r satchel.ForkRequest) (string, error) {
	l.mu.Lock()
	l.runs = append(l.runs, r.Key.Agent)
	l.mu.Unlock()
	messages := []core.Message{{Role: core.System, Text: "You help."}, {Role: core.User, Text: r.Task, Origin: 1}}
	for n := 0; ; n++ {
		view, err := r.Runtime.Agent(r.Key).Prepare(ctx, core.Request{Messages: messages})
		if err != nil {
			return "", err
		}
		l.mu.Lock()
		l.views = append(l.views, view.Messages)
		l.mu.Unlock()
		r.Runtime.Hooks().Emit(ctx, core.Event{Kind: core.ModelCalled, Key: r.Key, Usage: core.Usage{Prompt: 10, Completion: 1}})
		s, err := l.say(ctx, r, n, view.Messages)
		if err != nil {
			return "", err
		}
		var made []core.ToolCall
		for i, c := range s.calls {
			name, args, _ := strings.Cut(c, " ")
			made = append(made, core.ToolCall{ID: fmt.Sprintf("f%d.%d", n, i), Name: name, Arguments: args})
		}
		if err := r.Runtime.Hooks().Observe(ctx, r.Key, made); err != nil || len(made) == 0 {
			return s.text, err
		}
		messages = append(messages, core.Message{Role: core.Assistant, Text: s.text, Calls: made, Origin: len(messages)})
		for _, call := range made {
			answer, err := l.answer(ctx, r, call)
			if err != nil {
				return "", err
			}
			l.mu.Lock()
			l.said = append(l.said, answer)
			l.mu.Unlock()
			messages = append(messages, core.Message{Role: core.ToolResult, CallID: call.ID, Tool: call.Name, Text: answer, Origin: len(messages)})
		}
	}
}

func (l *forkLoop) answer(ctx context.Context, r satchel.ForkRequest, call core.ToolCall) (string, error) {
	opened, err := r.Runtime.Agent(r.Key).Open(ctx, call)
	if err != nil {
		return "", err
	}
	defer opened.Close()
	if r.Runtime.Hooks().Owns(call.Name) {
		return opened.Run(ctx)
	}
	d, err := opened.Gate(ctx)
	if d.Denied {
		return d.Reason, err
	}
	return call.Name + " ran", err
}

// answering is a loop whose model answers every fork at once.
func answering(text string) *forkLoop {
	return &forkLoop{say: func(context.Context, satchel.ForkRequest, int, []core.Message) (said, error) {
		return said{text: text}, nil
	}}
}

// openForks opens a runtime with the loop, and a conversation whose user has said something.
func openForks(t *testing.T, f satchel.Fork, opts ...satchel.Option) *chattest.Chat {
	t.Helper()
	rt := chattest.OpenLogged(t, slog.New(slog.NewTextHandler(io.Discard, nil)), forkSkills(), append([]satchel.Option{satchel.WithFork(f)}, opts...)...)
	c := chattest.NewChat(t, rt).Say(core.System, "You help.").Say(core.User, "go")
	c.View()
	return c
}

// The fork's request holds its skill and no list, its answer is the answer of the load, and the
// requests of the agent above only grow.
func TestForkIsAnAgentOfItsOwn(t *testing.T) {
	loop := &forkLoop{say: func(_ context.Context, r satchel.ForkRequest, n int, view []core.Message) (said, error) {
		if !strings.Contains(r.Text, "REPORT BODY") || r.HasHistory || r.MaxTurns != 20 || r.Parent.Agent != "main" {
			t.Errorf("request %+v", r)
		}
		return []said{{text: "one moment", calls: []string{`skill_load {"skill":"audit"}`}}, {text: "THE REPORT\n[skill#1 +plain@0123456789ab]"}}[n], nil
	}}
	c := openForks(t, satchel.Fork{Run: loop.run})
	before := c.View()
	answer := c.Calls(`skill_load {"skill":"report"}`)[0]
	if want := "[forked: report, 2 model calls, 22 tokens]\nTHE REPORT\n [skill#1 +plain@0123456789ab]"; answer != want {
		t.Errorf("answer %q, want %q", answer, want)
	}
	after := c.View()
	for i := range before {
		if before[i].Text != after[i].Text {
			t.Errorf("message %d has changed: %q, before %q", i, after[i].Text, before[i].Text)
		}
	}
	if got := after[len(after)-1].Text; got != answer {
		t.Errorf("the agent gets %q", got)
	}
	first := chattest.Shown(loop.views[0])
	if len(loop.views[0]) != 2 || strings.Count(first, "REPORT BODY") != 1 || strings.Contains(first, "available_skills") {
		t.Errorf("the fork began with\n%s", first)
	}
	if !strings.Contains(chattest.Shown(loop.views[1]), "AUDIT BODY") || len(loop.runs) != 1 {
		t.Errorf("a skill of a fork was not loaded in it: runs %q\n%s", loop.runs, chattest.Shown(loop.views[1]))
	}
	if got := c.LoadedNames(); len(got) > 0 {
		t.Errorf("loaded are %q", got)
	}
}

func TestForkThatDoesNotFinish(t *testing.T) {
	for name, test := range map[string]struct {
		say  func(ctx context.Context, n int) (said, error)
		want string
	}{
		"loops": {
			func(_ context.Context, n int) (said, error) {
				return said{text: fmt.Sprint("step ", n), calls: []string{"look x"}}, nil
			},
			"[forked: report, 3 model calls, 33 tokens]\n[not finished: it has reached its limit of 3 model calls; what it said last follows]\nstep 2",
		},
		"fails": {
			func(_ context.Context, n int) (said, error) {
				if n == 0 {
					return said{text: "so far", calls: []string{"look x"}}, nil
				}
				return said{}, errors.New("no\nmodel")
			},
			"[forked: report, 2 model calls, 22 tokens]\n[not finished: it failed: no model; what it said last follows]\nso far",
		},
		"panics": {
			func(context.Context, int) (said, error) { panic("oh") },
			"[forked: report, 1 model call, 11 tokens]\n[not finished: it failed: its agent panicked: oh]",
		},
		"exits": {
			func(context.Context, int) (said, error) { runtime.Goexit(); return said{}, nil },
			"[forked: report, 1 model call, 11 tokens]\n[not finished: it failed: its agent ended without an answer]",
		},
		"says nothing": {
			func(context.Context, int) (said, error) { return said{}, nil },
			"[forked: report, 1 model call, 11 tokens]\n[its last message has no text]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := session.NewMemory()
			loop := &forkLoop{say: func(ctx context.Context, _ satchel.ForkRequest, n int, _ []core.Message) (said, error) {
				return test.say(ctx, n)
			}}
			c := openForks(t, satchel.Fork{Run: loop.run, MaxTurns: 3}, satchel.WithStore(store))
			if got := c.Calls(`skill_load {"skill":"report"}`)[0]; got != test.want {
				t.Errorf("answer\n%s\nwant\n%s", got, test.want)
			}
			c.View() // the agent goes on
			checkEnded(t, store)
		})
	}
}

// checkEnded checks that a store holds nothing of forks.
func checkEnded(t *testing.T, store *session.Memory) {
	t.Helper()
	for _, agent := range []string{"main/fork:report#1", "main/fork:audit#2"} {
		id := session.ReservedPrefix + "fork:" + session.Digest("chat\x00"+agent)
		if agents, err := store.Agents(t.Context(), id); err != nil || len(agents) > 0 {
			t.Errorf("the store keeps %q of fork %s (%v)", agents, agent, err)
		}
	}
}

// A cancelled fork has an answer, also if its agent ignores that, and what the agent leaves behind
// can do nothing more.
func TestForkIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		var late error
		loop := &forkLoop{}
		loop.say = func(ctx context.Context, r satchel.ForkRequest, n int, _ []core.Message) (said, error) {
			if n == 0 {
				return said{text: "so far", calls: []string{"look x"}}, nil
			}
			<-stop // ignores ctx
			_, late = r.Runtime.Agent(r.Key).Prepare(context.WithoutCancel(ctx), core.Request{Messages: []core.Message{{Role: core.User, Text: "late"}}})
			return said{}, late
		}
		c := openForks(t, satchel.Fork{Run: loop.run})
		calls := c.Respond(`skill_load {"skill":"report"}`)
		outer := c.Context
		ctx, cancel := context.WithCancel(outer)
		c.Context = ctx
		time.AfterFunc(time.Minute, cancel)
		began := time.Now()
		got := c.Execute(calls[0])
		if want := "[forked: report, 2 model calls, 22 tokens]\n[not finished: it was cancelled; what it said last follows]\nso far"; got != want {
			t.Errorf("answer %q, want %q", got, want)
		}
		if took := time.Since(began); took > time.Minute+10*time.Second {
			t.Errorf("the cancelled fork took %s", took)
		}
		c.Context = outer
		if again := c.Execute(calls[0]); again != got || len(loop.runs) != 1 {
			t.Errorf("a repeated call answers %q, runs %q", again, loop.runs)
		}
		close(stop)
		synctest.Wait()
		if late == nil {
			t.Error("a request of a fork that has ended was prepared")
		}
	})
}

// A call that was answered has the same answer in another process, and one whose process died in
// the fork has none: it does not run again by itself.
func TestForkInAnotherProcess(t *testing.T) {
	long := strings.Repeat("a long report ", 1000)
	store := session.NewMemory()
	loop := answering(long)
	open := func() *chattest.Chat { return openForks(t, satchel.Fork{Run: loop.run}, satchel.WithStore(store)) }
	c := open()
	calls := c.Respond(`skill_load {"skill":"report"}`)
	answer := c.Execute(calls[0])
	if !strings.Contains(answer, "a long report") {
		t.Fatalf("answer %q", answer)
	}
	if again := open().Execute(calls[0]); again != answer || len(loop.runs) != 1 {
		t.Errorf("another process answers %.100q, runs %q", again, loop.runs)
	}

	died := make(chan struct{})
	t.Cleanup(func() { close(died) })
	begun := make(chan struct{})
	loop.say = func(context.Context, satchel.ForkRequest, int, []core.Message) (said, error) {
		close(begun)
		<-died
		return said{}, errors.New("the process has died")
	}
	dying := open()
	calls = dying.Respond(`skill_load {"skill":"audit"}`)
	ctx, cancel := context.WithCancel(dying.Context)
	t.Cleanup(cancel)
	go func() { _, _ = dying.Runtime.CallTool(ctx, dying.Key, calls[0]) }()
	<-begun
	next := open()
	if got := next.Execute(calls[0]); !strings.HasPrefix(got, "error: this skill was begun before and its end is unknown") || len(loop.runs) != 2 {
		t.Errorf("another process answers %q, runs %q", got, loop.runs)
	}
	loop.say = func(context.Context, satchel.ForkRequest, int, []core.Message) (said, error) {
		return said{text: "AUDITED"}, nil
	}
	if got := next.Calls(`skill_load {"skill":"audit"}`)[0]; !strings.HasSuffix(got, "AUDITED") || loop.runs[2] != "main/fork:audit#3" {
		t.Errorf("a new call answers %q, runs %q", got, loop.runs)
	}
	if err := next.Runtime.EndSession(t.Context(), next.Key.Session); err != nil {
		t.Fatal(err)
	}
	checkEnded(t, store)
}

// An agent that waits for a person is run again with the same key when the call is repeated.
func TestForkIsInterrupted(t *testing.T) {
	store := session.NewMemory()
	waits := errors.New("waits for a person")
	loop := &forkLoop{say: func(_ context.Context, r satchel.ForkRequest, _ int, _ []core.Message) (said, error) {
		if strings.HasPrefix(r.Skill.Name, "audit") && waits != nil {
			return said{}, &adapter.ForkInterrupt{Err: waits}
		}
		return said{text: "DONE " + r.Skill.Name}, nil
	}}
	open := func() *chattest.Chat { return openForks(t, satchel.Fork{Run: loop.run}, satchel.WithStore(store)) }
	c := open()
	call := c.Respond(`skill_load {"skills":["report","audit"]}`)[0]
	if _, err := c.Runtime.CallTool(c.Context, c.Key, call); !errors.Is(err, waits) {
		t.Fatalf("error %v, want that of the approver", err)
	}
	waits = nil
	got := open().Execute(call)
	if want := "[forked: report, 1 model call, 11 tokens]\nDONE report\n[forked: audit, 2 model calls, 22 tokens]\nDONE audit"; got != want {
		t.Errorf("answer %q, want %q", got, want)
	}
	chattest.Same(t, "forks", loop.runs, "main/fork:report#1", "main/fork:audit#2", "main/fork:audit#2")
	checkEnded(t, store)
}

// The forks of later calls wait for one that was interrupted. They run after it when all calls are
// executed again, in this process or in another one, whichever call comes first.
func TestForksWaitForAnInterruptedOne(t *testing.T) {
	for _, inAnother := range []bool{false, true} {
		t.Run(fmt.Sprintf("in another process %t", inAnother), func(t *testing.T) {
			store := session.NewMemory()
			waits := errors.New("waits for a person")
			var isAnswered atomic.Bool
			loop := &forkLoop{say: func(_ context.Context, r satchel.ForkRequest, _ int, _ []core.Message) (said, error) {
				if r.Skill.Name == "report" && !isAnswered.Load() {
					return said{}, &adapter.ForkInterrupt{Err: waits}
				}
				return said{text: "DONE " + r.Skill.Name}, nil
			}}
			open := func() *chattest.Chat {
				return openForks(t, satchel.Fork{Run: loop.run, Skills: []string{"plain"}}, satchel.WithStore(store))
			}
			c := open()
			calls := c.Respond("skill_load report", "skill_load plain", "skill_load strict", "skill_load audit")
			execute := func() (answers []string, errs []error) {
				answers, errs = make([]string, len(calls)), make([]error, len(calls))
				var all sync.WaitGroup
				for _, i := range []int{3, 2, 1, 0} {
					all.Go(func() { answers[i], errs[i] = c.Runtime.CallTool(c.Context, c.Key, calls[i]) })
				}
				all.Wait()
				return answers, errs
			}
			for range 2 { // the person has not answered after the first
				answers, errs := execute()
				_, isWaiting := errors.AsType[*adapter.ForkInterrupt](errs[1])
				_, isWaitingToo := errors.AsType[*adapter.ForkInterrupt](errs[3])
				if !errors.Is(errs[0], waits) || !isWaiting || !isWaitingToo || errs[2] != nil || !strings.HasPrefix(answers[2], "loaded: strict") {
					t.Fatalf("answers %q, errors %v", answers, errs)
				}
			}
			if isAnswered.Store(true); inAnother {
				c = open()
			}
			answers, errs := execute()
			if err := errors.Join(errs...); err != nil || !strings.HasSuffix(answers[0], "DONE report") || !strings.HasSuffix(answers[1], "DONE plain") || !strings.HasSuffix(answers[3], "DONE audit") {
				t.Errorf("answers %q, %v", answers, err)
			}
			chattest.Same(t, "forks", loop.runs, "main/fork:report#1", "main/fork:report#1", "main/fork:report#1", "main/fork:plain#2", "main/fork:audit#3")
		})
	}
}

// Forks of one message run one after the other, in the order in which the model made them.
func TestForksOfOneMessage(t *testing.T) {
	var running, most atomic.Int32
	loop := &forkLoop{say: func(_ context.Context, r satchel.ForkRequest, _ int, _ []core.Message) (said, error) {
		if n := running.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer running.Add(-1)
		for range 100 { // another fork would begin meanwhile
			runtime.Gosched()
		}
		return said{text: r.Skill.Name}, nil
	}}
	c := openForks(t, satchel.Fork{Run: loop.run, Skills: []string{"plain"}})
	answers := inOrder(t, c, c.Respond("skill_load report", "skill_load plain", "skill_load strict", "skill_load audit"), []int{3, 2, 1, 0})
	chattest.Same(t, "forks", loop.runs, "main/fork:report#1", "main/fork:plain#2", "main/fork:audit#3")
	if most.Load() != 1 || !strings.HasSuffix(answers[0], "\nreport") || !strings.HasSuffix(answers[3], "\naudit") || !strings.HasPrefix(answers[2], "loaded: strict") {
		t.Errorf("%d ran at once; answers %q", most.Load(), answers)
	}
}

// One call may name skills of both kinds.
func TestForkBesideALoad(t *testing.T) {
	loop := answering("R")
	c := openForks(t, satchel.Fork{Run: loop.run})
	got := c.Calls(`skill_load {"skills":["report","plain","nothing"]}`)[0]
	if !strings.HasPrefix(got, "[forked: report, 1 model call, 11 tokens]\nR\nloaded: plain\n") || !strings.Contains(got, `"nothing"`) {
		t.Errorf("answer %q", got)
	}
	chattest.Same(t, "loaded", c.LoadedNames(), "plain[]")
	if view := chattest.Shown(c.View()); strings.Count(view, "PLAIN BODY") != 1 {
		t.Errorf("view\n%s", view)
	}
}

// The agent of a skill reads what the skill needs and this host lacks.
func TestForkWithNeeds(t *testing.T) {
	loop := answering("TOLD")
	files := forkSkills()
	files["tell/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: tell\ndescription: Tells.\ncontext: fork\nrequires:\n  env: [DEMO_KEY]\n---\nTELL\n")}
	c := chattest.NewChat(t, chattest.Open(t, files, satchel.WithFork(satchel.Fork{Run: loop.run}))).Say(core.User, "go")
	c.View()
	c.Calls(`skill_load {"skill":"tell"}`)
	if shown := chattest.Shown(loop.views[0]); !strings.Contains(shown, "missing here: variable DEMO_KEY") {
		t.Errorf("the fork began with\n%s", shown)
	}
}

// In the vocabulary of the runtime spec the answer is one of its receipts, and nothing is unloaded.
func TestForkInOtherWords(t *testing.T) {
	loop := answering("THE REPORT")
	c := openForks(t, satchel.Fork{Run: loop.run}, satchel.WithTools(satchel.Tools{Vocabulary: tools.Vocabulary{Name: tools.RuntimeSpec}}))
	c.Calls(`skills_load {"names":["plain"]}`)
	var receipt struct {
		Active []struct{ Name string } `json:"active_skills"`
		Notes  []string
	}
	got := c.Calls(`skills_load {"names":["report"]}`)[0]
	if err := json.Unmarshal([]byte(got), &receipt); err != nil || len(receipt.Active) != 1 || len(receipt.Notes) != 1 || receipt.Notes[0] != "[forked: report, 1 model call, 11 tokens]\nTHE REPORT" {
		t.Errorf("answer %s (%v)", got, err)
	}
}

// Lists, gate, approver and audience are those of the agent above.
func TestForkIsBound(t *testing.T) {
	type key struct{ session, agent string }
	var seen, asked []key
	loop := &forkLoop{say: func(_ context.Context, _ satchel.ForkRequest, n int, _ []core.Message) (said, error) {
		return []said{{calls: []string{"Write x", "gated x", "Read x"}}, {text: "R"}}[n], nil
	}}
	var answers []core.Answer
	c := openForks(t, satchel.Fork{Run: loop.run},
		satchel.WithAudience(func(_ context.Context, k core.SessionKey) satchel.Audience {
			seen = append(seen, key{k.Session, k.Agent})
			return satchel.Audience{Key: "all", Allow: func(s core.Skill) bool { return k.Agent == "main" }}
		}),
		satchel.WithGate(func(_ context.Context, k core.SessionKey, call core.ToolCall) core.Decision {
			return core.Decision{Denied: call.Name == "gated", Reason: "gated for " + k.Agent}
		}),
		satchel.WithApprover(func(_ context.Context, ask core.Ask) (core.Answer, error) {
			asked = append(asked, key{ask.Key.Agent, ask.Call.Name})
			answers = append(answers, core.AnswerSession)
			return core.AnswerSession, nil
		}))
	c.Calls("skill_load strict")
	if got := c.Calls(`skill_load {"skill":"report"}`)[0]; !strings.HasSuffix(got, "\nR") {
		t.Errorf("answer %q", got)
	}
	if len(loop.said) != 3 || !strings.HasPrefix(loop.said[0], "denied: ") || !strings.Contains(loop.said[0], "of the agent that called you") ||
		loop.said[1] != "gated for main/fork:report#1" || loop.said[2] != "Read ran" {
		t.Errorf("the calls of the fork were answered %q", loop.said)
	}
	for _, k := range seen {
		if k.agent != "main" {
			t.Errorf("the audience of %+v was asked for", k)
		}
	}
	n := len(asked)
	c.Calls(`skill_load {"skill":"report"}`)
	if len(asked) != n {
		t.Errorf("what was approved for the session is asked again: %+v", asked)
	}
}

// A name that no skill has is an error of New, and without the option there is one diagnostic.
func TestForkNames(t *testing.T) {
	run := answering("").run
	if _, err := satchel.New(satchel.WithSkillFS("s", forkSkills()), satchel.WithFork(satchel.Fork{Run: run, Skills: []string{"none"}})); !errors.Is(err, satchel.ErrOption) || !strings.Contains(err.Error(), `"none"`) {
		t.Errorf("error %v", err)
	}
	for _, wrong := range []satchel.Fork{{}, {Run: run, MaxTurns: -1}} {
		if _, err := satchel.New(satchel.WithFork(wrong)); !errors.Is(err, satchel.ErrOption) {
			t.Errorf("%+v: error %v", wrong, err)
		}
	}
	var found []string
	for _, d := range chattest.Open(t, forkSkills()).Diagnostics() {
		if d.Code == "fork-ignored" {
			found = append(found, d.Message)
		}
	}
	if len(found) != 1 || !strings.Contains(found[0], "audit, report") {
		t.Errorf("diagnostics %q", found)
	}
	c := chattest.NewChat(t, chattest.Open(t, forkSkills())).Say(core.User, "go")
	c.View()
	if got := c.Calls("skill_load report")[0]; !strings.HasPrefix(got, "loaded: report") {
		t.Errorf("without the option a load answers %q", got)
	}
}
