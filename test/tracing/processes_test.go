package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"

	einomodel "github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/adapter/langchaingo"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/wiretest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// journal is a tracer for the runtimes of several processes. It lists the requests and the loads.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

// Event implements satchel.Tracer.
func (j *journal) Event(_ context.Context, e core.Event) {
	switch e.Kind {
	case core.SkillLoaded:
		j.add("loaded %s after %s", e.Skill, nameOf(e.Key, e.Turn, e.ModelCall))
	case core.SkillCompleted:
		j.add("ended %s after %s: %s", e.Skill, nameOf(e.Key, e.Turn, e.ModelCall), e.Detail)
	}
}

// Request implements satchel.Tracer.
func (j *journal) Request(_ context.Context, r core.ModelRequest) {
	var texts []string
	for _, p := range r.View.Texts {
		if p.Skill != "" {
			texts = append(texts, fmt.Sprintf(" %s%s by %d", p.Skill, strings.TrimSuffix("/"+p.Doc, "/"), p.LoadedBy))
		}
	}
	j.add("call %s:%s", nameOf(r.Key, r.View.Turn, r.ModelCall), strings.Join(texts, ""))
}

// Answer implements satchel.Tracer.
func (j *journal) Answer(context.Context, core.ModelAnswer) {}

// nameOf returns the agent, if it is a fork, and TURN/CALL.
func nameOf(key core.SessionKey, turn, call int) string {
	if _, fork, ok := strings.Cut(key.Agent, "/fork:"); ok {
		return fmt.Sprintf("%s/%d/%d", fork, turn, call)
	}
	return fmt.Sprintf("%d/%d", turn, call)
}

// process plays a part of a conversation whose history it shares with other processes.
type process interface {
	// ask asks the model, which gives an answer. act executes the calls of that.
	ask(t *testing.T, answer wiretest.Answer)
	act(t *testing.T)
	say(text string)
	// script adds answers of the model to other calls.
	script(answers ...wiretest.Answer)
	// fail asks the model in a context, and returns its error.
	fail(ctx context.Context) error
	// stream makes the process read answers as streams, where the framework has them.
	stream()
	// observe sets a function that the model calls first. The call fails with its error.
	observe(onCall func() error)
}

// processes returns hosts of one conversation, one for each runtime.
var processes = map[string]func(t *testing.T, runtimes ...*satchel.Runtime) []process{
	"Eino": func(t *testing.T, runtimes ...*satchel.Runtime) (all []process) {
		history := &[]*schema.Message{schema.SystemMessage(wiretest.System)}
		for _, rt := range runtimes {
			p := &einoProcess{history: history, model: &einoModel{}}
			cfg := &react.AgentConfig{ToolCallingModel: p.model, ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{einoTool{}}}}
			if _, err := eino.InstallReact(cfg, rt); err != nil {
				t.Fatal(err)
			}
			var err error
			if p.tools, err = compose.NewToolNode(t.Context(), &cfg.ToolsConfig); err != nil {
				t.Fatal(err)
			}
			p.bound = cfg.ToolCallingModel
			all = append(all, p)
		}
		return all
	},
	"langchaingo": func(t *testing.T, runtimes ...*satchel.Runtime) (all []process) {
		history := &[]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, wiretest.System)}
		for _, rt := range runtimes {
			p := &chainProcess{history: history, model: &chainModel{}}
			var err error
			if p.adapter, err = langchaingo.Install(rt, p.model, []tools.Tool{chainTool{}}); err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
		return all
	},
}

type einoProcess struct {
	history *[]*schema.Message
	model   *einoModel
	bound   einomodel.BaseChatModel
	tools   *compose.ToolsNode
	streams bool
}

func (p *einoProcess) say(text string) { *p.history = append(*p.history, schema.UserMessage(text)) }

func (p *einoProcess) script(answers ...wiretest.Answer) {
	p.model.answers = append(p.model.answers, answers...)
}

func (p *einoProcess) ask(t *testing.T, answer wiretest.Answer) {
	t.Helper()
	p.model.answers = append(p.model.answers, answer)
	out, err := ask(satchel.WithSession(t.Context(), "s"), p.bound, *p.history, p.streams)
	if err != nil {
		t.Fatal(err)
	}
	*p.history = append(*p.history, out)
}

func (p *einoProcess) fail(ctx context.Context) error {
	_, err := ask(satchel.WithSession(ctx, "s"), p.bound, *p.history, p.streams)
	return err
}

func (p *einoProcess) stream() { p.streams = true }

func (p *einoProcess) observe(onCall func() error) { p.model.onCall = onCall }

func (p *einoProcess) act(t *testing.T) {
	t.Helper()
	results, err := p.tools.Invoke(satchel.WithSession(t.Context(), "s"), (*p.history)[len(*p.history)-1])
	if err != nil {
		t.Fatal(err)
	}
	*p.history = append(*p.history, results...)
}

type chainProcess struct {
	history *[]llms.MessageContent
	model   *chainModel
	adapter *langchaingo.Adapter
	calls   []llms.ToolCall
}

func (p *chainProcess) say(text string) {
	*p.history = append(*p.history, llms.TextParts(llms.ChatMessageTypeHuman, text))
}

func (p *chainProcess) script(answers ...wiretest.Answer) {
	p.model.answers = append(p.model.answers, answers...)
}

func (p *chainProcess) ask(t *testing.T, answer wiretest.Answer) {
	t.Helper()
	p.model.answers = append(p.model.answers, answer)
	resp, err := p.adapter.Model().GenerateContent(satchel.WithSession(t.Context(), "s"), *p.history)
	if err != nil {
		t.Fatal(err)
	}
	out := llms.MessageContent{Role: llms.ChatMessageTypeAI}
	if text := resp.Choices[0].Content; text != "" {
		out.Parts = append(out.Parts, llms.TextContent{Text: text})
	}
	for _, call := range resp.Choices[0].ToolCalls {
		out.Parts = append(out.Parts, call)
	}
	*p.history = append(*p.history, out)
}

func (p *chainProcess) fail(ctx context.Context) error {
	_, err := p.adapter.Model().GenerateContent(satchel.WithSession(ctx, "s"), *p.history)
	return err
}

func (p *chainProcess) stream() {} // its answers are whole

func (p *chainProcess) observe(onCall func() error) { p.model.onCall = onCall }

func (p *chainProcess) act(t *testing.T) {
	t.Helper()
	for _, part := range (*p.history)[len(*p.history)-1].Parts {
		call, ok := part.(llms.ToolCall)
		if !ok {
			continue
		}
		result, err := p.adapter.Call(satchel.WithSession(t.Context(), "s"), call)
		if err != nil {
			t.Fatal(err)
		}
		*p.history = append(*p.history, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{result}})
	}
}

// eachStore runs a test in both frameworks, with each store. start opens the runtimes of processes. In its bubble no
// time passes while a store saves, so each answer waits until the number of its call is saved.
func eachStore(t *testing.T, test func(t *testing.T, j *journal, start func(n int, opts ...satchel.Option) []process)) {
	for framework, hosts := range processes {
		for name, store := range map[string]func(t *testing.T) func() session.Store{
			"memory": func(*testing.T) func() session.Store {
				memory := session.NewMemory()
				return func() session.Store { return memory }
			},
			"directory": func(t *testing.T) func() session.Store {
				dir := t.TempDir()
				return func() session.Store {
					opened, err := session.OpenDirectory(dir)
					if err != nil {
						t.Fatal(err)
					}
					return opened
				}
			},
		} {
			t.Run(framework+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					open, j := store(t), &journal{}
					test(t, j, func(n int, opts ...satchel.Option) []process {
						var all []*satchel.Runtime
						for range n {
							all = append(all, newRuntime(t, append([]satchel.Option{satchel.WithTrace(j), satchel.WithStore(open())}, opts...)...))
						}
						return hosts(t, all...)
					})
				})
			})
		}
	}
}

// newRuntime opens the runtime of a process.
func newRuntime(t *testing.T, opts ...satchel.Option) *satchel.Runtime {
	t.Helper()
	rt, err := satchel.New(append([]satchel.Option{satchel.WithSkillFS("test", fstest.MapFS{
		"pdf/SKILL.md":    {Data: []byte("---\nname: pdf\ndescription: Fills in forms.\n---\nBody of pdf.\n")},
		"pdf/forms.md":    {Data: []byte("Forms have fields.\n")},
		"xlsx/SKILL.md":   {Data: []byte("---\nname: xlsx\ndescription: Edits sheets.\n---\nBody of xlsx.\n")},
		"report/SKILL.md": {Data: []byte("---\nname: report\ndescription: Writes the report.\ncontext: fork\n---\nBody of report.\n")},
	}), satchel.WithLogger(slog.New(slog.DiscardHandler))}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

func answer(calls ...wiretest.Call) wiretest.Answer {
	if len(calls) == 0 {
		return wiretest.Answer{Text: "done"}
	}
	return wiretest.Answer{Calls: calls}
}

func loads(id, skill string) wiretest.Answer {
	return answer(wiretest.Call{ID: id, Name: "skill_load", Arguments: `{"skill":"` + skill + `","docs":["forms.md"]}`})
}

// Calls and turns count on in other processes, which take turns within a user turn too. A text keeps the call
// that has loaded it.
func TestCallsCountOnInOtherProcesses(t *testing.T) {
	eachStore(t, func(t *testing.T, j *journal, start func(int, ...satchel.Option) []process) {
		mode := satchel.WithLoading(satchel.Loading{Mode: loadmode.Session})
		p := start(3, mode)
		p[0].say("one")
		p[0].ask(t, answer())
		p[1].say("two")
		p[1].ask(t, loads("c1", "pdf"))
		p[2].act(t) // as after an approval
		p[2].ask(t, answer(wiretest.Call{ID: "c2", Name: "skill_load", Arguments: `{"skill":"xlsx"}`}))
		p[0].act(t)
		p[0].ask(t, answer())
		p[1].say("three")
		p[1].ask(t, answer())
		compare(t, "journal", j.lines, []string{
			"call 1/1:", "call 2/2:", "loaded pdf after 2/2", "call 2/3: pdf by 2 pdf/forms.md by 2", "loaded xlsx after 2/3",
			"call 2/4: pdf by 2 pdf/forms.md by 2 xlsx by 3", "call 3/5: pdf by 2 pdf/forms.md by 2 xlsx by 3",
		})
	})
}

// What the host loads before a request belongs to that. A turn that begins again forgets the loads of its first
// attempt, and no number of a call.
func TestLoadsBeforeCallsOfOtherProcesses(t *testing.T) {
	eachStore(t, func(t *testing.T, j *journal, start func(int, ...satchel.Option) []process) {
		p := start(2, satchel.WithLoading(satchel.Loading{Mode: loadmode.Turn, Preload: []string{"xlsx"}}), satchel.WithActivation(satchel.Activation{Mentions: satchel.Slash}))
		p[0].say("one")
		p[0].ask(t, answer())
		p[1].say("/pdf two")
		p[1].ask(t, answer())
		p[0].say("three")
		p[0].ask(t, answer())
		compare(t, "journal", j.lines, []string{
			"loaded xlsx after 1/0", "call 1/1: xlsx by 1", "loaded pdf after 2/1", "call 2/2: xlsx by 1 pdf by 2",
			"ended pdf after 3/2: turn", "call 3/3: xlsx by 1",
		})
	})
}

// A runtime without a tracer writes the same records as if there were no traces.
func TestRecordsWithoutATracer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sizes := map[bool]int{}
		for _, isTraced := range []bool{false, true} {
			memory := session.NewMemory()
			opts := []satchel.Option{satchel.WithStore(memory)}
			if isTraced {
				opts = append(opts, satchel.WithTrace(&journal{}))
			}
			p := processes["Eino"](t, newRuntime(t, opts...))[0]
			p.say("one")
			p.ask(t, loads("c1", "pdf"))
			p.act(t)
			p.ask(t, answer())
			agents, err := memory.Agents(t.Context(), "s")
			if err != nil || len(agents) != 1 {
				t.Fatalf("agents %q, %v", agents, err)
			}
			v, err := memory.Load(t.Context(), core.SessionKey{Session: "s", Agent: agents[0]})
			if err != nil {
				t.Fatal(err)
			}
			if has := strings.Contains(string(v.Data), `"traced":"2 1.1"`); has != isTraced {
				t.Errorf("with a tracer %v: the record is %s", isTraced, v.Data)
			}
			sizes[isTraced] = len(v.Data)
		}
		if sizes[true] > sizes[false]+20 {
			t.Errorf("the record has %d bytes with a tracer, %d without", sizes[true], sizes[false])
		}
	})
}

// Forks and their calls count on in other processes, and the skills of a fork leave before it ends.
func TestForksOfOtherProcesses(t *testing.T) {
	for framework, run := range map[string]func(context.Context, satchel.ForkRequest) (string, error){"Eino": eino.Fork(nil), "langchaingo": langchaingo.Fork(nil)} {
		for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Once, loadmode.Session, loadmode.Adaptive} {
			t.Run(framework+", "+mode.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					memory, j := session.NewMemory(), &journal{}
					var all []*satchel.Runtime
					for range 2 {
						all = append(all, newRuntime(t, satchel.WithTrace(j), satchel.WithStore(memory), satchel.WithFork(satchel.Fork{Run: run}), satchel.WithLoading(satchel.Loading{Mode: mode})))
					}
					report := answer(wiretest.Call{ID: "c1", Name: "skill_load", Arguments: `{"skill":"report"}`})
					load := answer(wiretest.Call{ID: "f1", Name: "skill_load", Arguments: `{"skill":"xlsx"}`})
					for _, p := range processes[framework](t, all...) {
						p.say("report, please")
						p.ask(t, report)
						p.script(load, answer())
						p.act(t)
						p.ask(t, answer())
					}
					var got []string
					for _, l := range j.lines {
						if !strings.HasPrefix(l, "call 1/") && !strings.HasPrefix(l, "call 2/") {
							got = append(got, l)
						}
					}
					var want []string
					for _, n := range []string{"report#1/1/", "report#2/2/"} {
						want = append(want, "loaded report after "+n+"0", "call "+n+"1: report by 1", "loaded xlsx after "+n+"1", "call "+n+"2: report by 1 xlsx by 1")
						if mode == loadmode.Once { // the task stays
							want = append(want, "ended xlsx after "+n+"2: answered", "ended report after "+n+"2: turn")
						} else {
							want = append(want, "ended report after "+n+"2: turn", "ended xlsx after "+n+"2: turn")
						}
					}
					compare(t, "journal", got, want)
				})
			})
		}
	}
}

// loop is a host with a loop of its own.
type loop struct {
	*testing.T
	rt       *satchel.Runtime
	ctx      context.Context
	key      core.SessionKey
	messages []core.Message
}

func newLoop(t *testing.T, rt *satchel.Runtime, agent string) *loop {
	return &loop{T: t, rt: rt, ctx: satchel.WithSession(t.Context(), "s"), key: core.SessionKey{Session: "s", Agent: agent}, messages: []core.Message{{Role: core.User, Text: "hi"}}}
}

// call makes a model call whose answer has tool calls, and executes them.
func (l *loop) call(made ...core.ToolCall) {
	l.Helper()
	view, err := l.rt.Prepare(l.ctx, core.Request{Key: l.key, Messages: l.messages})
	if err != nil {
		l.Fatal(err)
	}
	id := l.rt.Hooks().TraceRequest(l.ctx, core.ModelRequest{Key: l.key, View: *view.Trace, Messages: view.Messages})
	l.rt.Hooks().Answered(l.ctx, core.ModelAnswer{ID: id, Key: l.key, Text: "said", Calls: made})
	if err := l.rt.Hooks().Observe(l.ctx, l.key, made); err != nil {
		l.Fatal(err)
	}
	l.messages = append(l.messages, core.Message{Role: core.Assistant, Text: "said", Calls: made})
	for _, c := range made {
		answer, err := l.rt.CallTool(l.ctx, l.key, c)
		if err != nil {
			l.Fatal(err)
		}
		l.messages = append(l.messages, core.Message{Role: core.ToolResult, CallID: c.ID, Text: answer})
	}
}

func loadCall(id, skill string) core.ToolCall {
	return core.ToolCall{ID: id, Name: "skill_load", Arguments: `{"skill":"` + skill + `"}`}
}

// A turn that another process begins again forgets its loads, whose numbers others get, and counts the calls on.
func TestTurnThatBeginsAgainInAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, j := session.NewMemory(), &journal{}
		for i, skill := range []string{"pdf", "xlsx"} {
			l := newLoop(t, newRuntime(t, satchel.WithTrace(j), satchel.WithStore(memory), satchel.WithLoading(satchel.Loading{Mode: loadmode.Turn})), "a")
			l.ctx = satchel.BeginTurn(l.ctx, "the turn")
			l.call(loadCall("c1", skill))
			if i == 1 {
				l.call()
			}
		}
		compare(t, "journal", j.lines, []string{"call 1/1:", "loaded pdf after 1/1", "ended pdf after 1/1: again", "call 1/2:", "loaded xlsx after 1/2", "call 1/3: xlsx by 2"})
	})
}

// A process that loses the record counts on, and another one goes on from there.
func TestLostRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, j := session.NewMemory(), &journal{}
		open := func() *satchel.Runtime { return newRuntime(t, satchel.WithTrace(j), satchel.WithStore(memory)) }
		l := newLoop(t, open(), "a")
		l.call()
		l.call()
		if err := memory.End(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		l.call()
		l.rt = open()
		l.call()
		// A session that has ended is gone.
		if err := l.rt.EndSession(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		newLoop(t, l.rt, "a").call()
		compare(t, "journal", j.lines, []string{"call 1/1:", "call 1/2:", "call 1/3:", "call 1/4:", "call 1/1:"})
	})
}

// prepare begins a turn, and does not send its request.
func (l *loop) prepare(text string) {
	l.Helper()
	l.messages = append(l.messages, core.Message{Role: core.User, Text: text})
	if _, err := l.rt.Prepare(l.ctx, core.Request{Key: l.key, Messages: l.messages}); err != nil {
		l.Fatal(err)
	}
}

// Turns without a request have no number of a call, also in another process. A host without a model has none.
func TestTurnsWithoutRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, j := session.NewMemory(), &journal{}
		open := func() *satchel.Runtime { return newRuntime(t, satchel.WithTrace(j), satchel.WithStore(memory)) }
		l := newLoop(t, open(), "a")
		for _, id := range []string{"c1", "c2"} {
			l.prepare(id)
			if _, err := l.rt.CallTool(l.ctx, l.key, loadCall(id, "pdf")); err != nil {
				t.Fatal(err)
			}
			l.rt = open()
		}
		l.call()
		l.prepare("three")
		l.prepare("four")
		l.call()
		compare(t, "journal", j.lines, []string{
			"loaded pdf after 1/0", "ended pdf after 2/0: turn", "loaded pdf after 2/0", "call 2/1: pdf by 0", "ended pdf after 3/1: turn", "call 4/2:",
		})
	})
}

// A load that ended with its answer ends once, also if the next process has another mode.
func TestEndOfALoadInAnotherMode(t *testing.T) {
	for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Adaptive} {
		t.Run(mode.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory, j := session.NewMemory(), &journal{}
				open := func(mode loadmode.Mode) *satchel.Runtime {
					return newRuntime(t, satchel.WithTrace(j), satchel.WithStore(memory), satchel.WithLoading(satchel.Loading{Mode: mode}))
				}
				l := newLoop(t, open(loadmode.Once), "a")
				l.call(loadCall("c1", "pdf"))
				l.call()
				l.rt, l.messages = open(mode), append(l.messages, core.Message{Role: core.User, Text: "go on"})
				l.call(loadCall("c2", "xlsx"))
				l.messages = append(l.messages, core.Message{Role: core.User, Text: "and on"})
				l.call()
				var got []string
				for _, line := range j.lines {
					if strings.HasPrefix(line, "ended") {
						got = append(got, line)
					}
				}
				compare(t, "journal", got, []string{"ended pdf after 1/2: answered", "ended xlsx after 3/3: turn"})
			})
		})
	}
}

// A text that a shorter one replaces keeps the call that has loaded it.
func TestShortenedTextInAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, j := session.NewMemory(), &journal{}
		open := func() *satchel.Runtime {
			return newRuntime(t, satchel.WithTrace(j), satchel.WithStore(memory), satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))
		}
		l := newLoop(t, open(), "a")
		l.call()
		l.call(loadCall("c1", "pdf"))
		l.call()
		if err := l.rt.Compact(l.ctx, "pdf"); err != nil {
			t.Fatal(err)
		}
		l.rt, l.messages = open(), append(l.messages, core.Message{Role: core.User, Text: "go on"})
		l.call(loadCall("c2", "pdf")) // the whole text again
		l.call()
		compare(t, "journal", j.lines, []string{
			"call 1/1:", "call 1/2:", "loaded pdf after 1/2", "call 1/3: pdf by 2", "call 2/4: pdf by 2", "loaded pdf after 2/4", "call 2/5: pdf by 2 pdf by 4",
		})
	})
}

// firstAgents lists the agents whose requests say that they are the first of the session.
type firstAgents struct {
	journal
	first []string
}

func (f *firstAgents) Request(_ context.Context, r core.ModelRequest) {
	f.first = append(f.first, fmt.Sprint(r.Key.Agent, " ", r.ModelCall, " ", !r.IsSubagent))
}

// A process that goes on with a sub-agent knows that it is none of the first agents.
func TestFirstAgentInAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, f := session.NewMemory(), &firstAgents{}
		if _, err := memory.Save(t.Context(), core.SessionKey{Session: "s", Agent: "values of the host"}, session.Value{Data: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			rt := newRuntime(t, satchel.WithTrace(f), satchel.WithStore(memory))
			if f.first == nil {
				newLoop(t, rt, "main").call()
			}
			newLoop(t, rt, "helper").call()
		}
		compare(t, "agents", f.first, []string{"main 1 true", "helper 1 false", "helper 2 false"})
	})
}

// Calls of one agent at the same time have numbers of their own, and another process goes on behind them.
func TestCallsAtTheSameTime(t *testing.T) {
	memory, j := session.NewMemory(), &journal{}
	rt := newRuntime(t, satchel.WithTrace(j), satchel.WithStore(memory))
	newLoop(t, rt, "a").call()
	var group sync.WaitGroup
	for range 30 {
		group.Go(func() {
			rt.Hooks().TraceRequest(t.Context(), core.ModelRequest{Key: core.SessionKey{Session: "s", Agent: "a"}, View: core.ViewTrace{Turn: 1}})
		})
	}
	group.Wait()
	if err := rt.Close(); err != nil { // saves the last number
		t.Fatal(err)
	}
	newLoop(t, newRuntime(t, satchel.WithTrace(j), satchel.WithStore(memory)), "a").call()
	got := slices.Sorted(slices.Values(j.lines))
	if len(slices.Compact(slices.Clone(got))) != 32 || !slices.Contains(got, "call 1/32:") {
		t.Errorf("the calls are %q", got)
	}
}

// broken is a store that does not save while it is broken.
type broken struct {
	*session.Memory
	isBroken bool
}

func (b *broken) Save(ctx context.Context, key core.SessionKey, v session.Value) (session.Value, error) {
	if b.isBroken {
		return session.Value{}, errors.New("disk full")
	}
	return b.Memory.Save(ctx, key, v)
}

// A call goes on, with a number of its own, if the store does not save that.
func TestStoreThatDoesNotSave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, j := &broken{Memory: session.NewMemory()}, &journal{}
		rt := newRuntime(t, satchel.WithTrace(j), satchel.WithStore(store))
		l := newLoop(t, rt, "a")
		for _, l.rt = range []*satchel.Runtime{rt, newRuntime(t, satchel.WithTrace(j), satchel.WithStore(store))} {
			l.call()
			store.isBroken = true
			l.call()
			store.isBroken = false
			l.call()
		}
		compare(t, "journal", j.lines, []string{"call 1/1:", "call 1/2:", "call 1/3:", "call 1/4:", "call 1/5:", "call 1/6:"})
	})
}
