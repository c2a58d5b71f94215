package conversation_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
)

// eventLog is a tracer that keeps events as lines.
type eventLog struct {
	noTracer
	mu     sync.Mutex
	events []core.Event
}

func (l *eventLog) Event(_ context.Context, e core.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

// lines returns the events of these kinds, one a line, and forgets all.
func (l *eventLog) lines(kinds ...core.EventKind) (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if slices.Contains(kinds, e.Kind) {
			lines = append(lines, eventLine(e))
		}
	}
	l.events = nil
	return lines
}

// eventLine shows the fields of an event that are set.
func eventLine(e core.Event) string {
	var b strings.Builder
	b.WriteString(string(e.Kind))
	add := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, " %s=%s", name, value)
		}
	}
	add("skill", e.Skill)
	add("docs", strings.Join(e.Docs, ","))
	add("skills", strings.Join(e.Skills, ","))
	add("named", strings.Join(e.Named, ","))
	if e.Left > 0 {
		fmt.Fprintf(&b, " left=%d", e.Left)
	}
	add("by", e.By)
	if e.Load > 0 {
		fmt.Fprintf(&b, " load=%d", e.Load)
	}
	add("id", e.Call.ID)
	add("decider", e.Decider)
	add("rule", e.Rule)
	add("cause", e.Cause)
	add("fork", e.Fork)
	switch e.Kind {
	case core.ToolAllowed, core.ToolDenied, core.ToolAsked, core.PrefixBroken: // long texts for people
	default:
		add("detail", e.Detail)
	}
	if e.Kind == core.ToolApproval {
		fmt.Fprintf(&b, " approved=%v", e.Approved)
	}
	return b.String()
}

// traceSkills are guard, which allows Read; blind, which disallows Bash; and free, with a doc.
func traceSkills() fstest.MapFS {
	skill := func(name, head string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: Does " + name + " work with spreadsheets, for everybody who has many of them and wants to know what is in them.\n" + head + "---\n" + strings.ToUpper(name) + "\n")}
	}
	return fstest.MapFS{
		"guard/SKILL.md": skill("guard", "allowed-tools: Read\n"),
		"blind/SKILL.md": skill("blind", "disallowed-tools: Bash\n"),
		"free/SKILL.md":  skill("free", ""),
		"free/more.md":   {Data: []byte("MORE\n")},
	}
}

func TestTraceEvents(t *testing.T) {
	denyAll := func(context.Context, core.SessionKey, core.ToolCall) core.Decision {
		return core.Decision{Denied: true, Reason: "no"}
	}
	approve := func(a core.Answer) satchel.Option {
		return satchel.WithApprover(func(context.Context, core.Ask) (core.Answer, error) { return a, nil })
	}
	decisions := []core.EventKind{core.ToolAllowed, core.ToolAsked, core.ToolApproval, core.ToolDenied}
	for name, c := range map[string]struct {
		opts  []satchel.Option
		loads []satchel.Load // of the host
		text  string         // of the user; "" is "hi"
		calls []string       // one response each
		gate  bool           // the calls go through the gate
		kinds []core.EventKind
		want  []string
	}{
		"the model loads": {
			calls: []string{`skill_load {"skill":"free"}`}, kinds: []core.EventKind{core.SkillLoaded},
			want: []string{"skill.loaded skill=free by=model load=1 id=id-1"},
		},
		"the user mentions": {
			opts: []satchel.Option{satchel.WithActivation(satchel.Activation{Mentions: satchel.Dollar})}, text: "do $free", kinds: []core.EventKind{core.SkillLoaded},
			want: []string{"skill.loaded skill=free by=user load=1"},
		},
		"the user names in words": {
			opts: []satchel.Option{satchel.WithActivation(satchel.Activation{Mentions: satchel.Words})}, text: "use the free skill", kinds: []core.EventKind{core.SkillLoaded},
			want: []string{"skill.loaded skill=free by=user load=1"},
		},
		"the host declares": {
			loads: []satchel.Load{{Skill: "free", Docs: []string{"more.md"}}}, kinds: []core.EventKind{core.SkillLoaded, core.SkillUsed},
			want: []string{"skill.loaded skill=free docs=more.md by=host load=1"},
		},
		"the host preloads": {
			opts: []satchel.Option{satchel.WithLoading(satchel.Loading{Preload: []string{"free"}})}, kinds: []core.EventKind{core.SkillLoaded},
			want: []string{"skill.loaded skill=free by=host"},
		},
		"the runtime loads": {
			opts: []satchel.Option{satchel.WithActivation(satchel.Activation{Load: true})}, text: "guard work with spreadsheets", kinds: []core.EventKind{core.SkillLoaded},
			want: []string{"skill.loaded skill=guard by=host load=1"},
		},
		"suggested": {
			opts: []satchel.Option{satchel.WithActivation(satchel.Activation{Suggest: true, Most: 1})}, text: "guard work with spreadsheets",
			kinds: []core.EventKind{core.SkillsSuggested, core.SkillLoaded},
			want:  []string{"skills.suggested skills=guard"},
		},
		"offered": {
			kinds: []core.EventKind{core.SkillsOffered}, want: []string{"skills.offered skills=blind,free,guard"},
		},
		"offered by name": {
			opts:  []satchel.Option{satchel.WithOverview(satchel.Overview{Tokens: 190, Pinned: []string{"free"}})},
			kinds: []core.EventKind{core.SkillsOffered}, want: []string{"skills.offered skills=free named=blind left=1"},
		},
		"not found": {
			calls: []string{`skill_load {"skills":["fre","free"]}`, `skill_read {"skill":"gard","path":"x"}`, `skill_select_docs {"skill":"quite-other","docs":["a.md"]}`, `skill_unload {"skills":["blund"]}`},
			kinds: []core.EventKind{core.SkillNotFound},
			want: []string{
				"skill.not_found skills=free id=id-1 detail=fre", "skill.not_found skills=guard id=id-2 detail=gard", "skill.not_found id=id-3 detail=quite-other",
				"skill.not_found skills=blind id=id-4 detail=blund",
			},
		},
		"a skill that is not loaded is known": {
			calls: []string{`skill_read {"skill":"free","path":"more.md"}`, `skill_unload {"skills":["free"]}`}, kinds: []core.EventKind{core.SkillNotFound, core.SkillUsed},
		},
		"docs are used": {
			calls: []string{
				`skill_load {"skill":"free","docs":["more.md"]}`, `skill_read {"skill":"free","path":"more.md"}`, `skill_read {"path":"none.md"}`,
				`skill_select_docs {"skill":"free","mode":"clear"}`, `skill_select_docs {"skill":"free","docs":["more.md"]}`,
			},
			kinds: []core.EventKind{core.SkillUsed, core.DocsSelected},
			want: []string{
				"skill.used skill=free id=id-1 detail=doc", "skill.used skill=free id=id-2 detail=doc", "docs.selected skill=free load=2 id=id-4",
				"docs.selected skill=free docs=more.md load=3 id=id-5", "skill.used skill=free id=id-5 detail=doc",
			},
		},
		"no rule": {calls: []string{`Read {}`}, gate: true, kinds: decisions, want: []string{"tool.allowed id=id-1 decider=no rule"}},
		"lists": {
			calls: []string{`skill_load {"skill":"guard"}`, `Read {}`, `Write {}`}, gate: true, kinds: decisions,
			want: []string{
				"tool.allowed id=id-1 decider=always callable", "tool.allowed skill=guard id=id-2 decider=allowed-tools of guard rule=Read",
				"tool.denied skill=guard id=id-3 decider=allowed-tools of guard",
			},
		},
		"disallowed": {
			calls: []string{`skill_load {"skill":"blind"}`, `Bash {"command":"ls"}`}, gate: true, kinds: []core.EventKind{core.ToolDenied},
			want: []string{"tool.denied skill=blind id=id-2 decider=disallowed-tools of blind rule=Bash"},
		},
		"the host's gate": {
			opts: []satchel.Option{satchel.WithGate(denyAll)}, calls: []string{`Read {}`}, gate: true, kinds: decisions,
			want: []string{"tool.denied id=id-1 decider=the host's gate"},
		},
		"approved": {
			opts: []satchel.Option{approve(core.AnswerAllow)}, calls: []string{`Read {}`}, gate: true, kinds: decisions,
			want: []string{
				"tool.asked id=id-1 decider=no rule", "tool.approval id=id-1 detail=approved approved=true", "tool.allowed id=id-1 decider=the approver",
			},
		},
		"approved for the session": {
			opts: []satchel.Option{approve(core.AnswerSession)}, calls: []string{`Read {}`, `Read {}`}, gate: true, kinds: decisions,
			want: []string{
				"tool.asked id=id-1 decider=no rule", "tool.approval id=id-1 detail=approved for the session approved=true",
				"tool.allowed id=id-1 decider=the approver", "tool.allowed id=id-2 decider=the approver",
			},
		},
		"not approved": {
			opts: []satchel.Option{approve(core.AnswerDeny)}, calls: []string{`Read {}`}, gate: true, kinds: decisions,
			want: []string{
				"tool.asked id=id-1 decider=no rule", "tool.approval id=id-1 detail=not approved approved=false", "tool.denied id=id-1 decider=the approver",
			},
		},
		"lists are off": {
			opts:  []satchel.Option{satchel.WithPermissions(satchel.Permissions{Policy: permission.Off})},
			calls: []string{`skill_load {"skill":"guard"}`, `Write {}`}, gate: true, kinds: decisions,
			want: []string{"tool.allowed id=id-1 decider=always callable", "tool.allowed id=id-2 decider=no rule"},
		},
		"a tool that belongs to a skill": {
			opts:  []satchel.Option{satchel.WithPermissions(satchel.Permissions{ToolSkills: map[string][]string{"Read": {"free"}}})},
			calls: []string{`Read {}`}, gate: true, kinds: decisions,
			want: []string{"tool.denied id=id-1 decider=the skills that the tool needs"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			log := &eventLog{}
			chat := chattest.NewChat(t, chattest.Open(t, traceSkills(), append(c.opts, satchel.WithTrace(log))...))
			if c.loads != nil {
				chat.Context = satchel.WithLoads(chat.Context, c.loads...)
			}
			if c.text == "" {
				c.text = "hi"
			}
			chat.Say(core.User, c.text)
			chat.View()
			for _, call := range c.calls {
				if c.gate {
					chat.Gate(call)
				} else {
					chat.Calls(call)
				}
			}
			chattest.Same(t, "events", log.lines(c.kinds...), c.want...)
		})
	}
}

// What is offered is reported again after it has changed, and by each process.
func TestOfferedAfterAChange(t *testing.T) {
	w, log := chattest.NewWorld(2), &eventLog{}
	c := chattest.NewChat(t, chattest.Open(t, w.Files, satchel.WithTrace(log))).Say(core.User, "one")
	turn := func(want ...string) {
		t.Helper()
		c.View()
		c.Answer("done")
		chattest.Same(t, "events", log.lines(core.SkillsOffered), want...)
		c.Say(core.User, fmt.Sprint("next ", len(c.Messages)))
		if err := c.Runtime.Refresh(c.Context); err != nil {
			t.Fatal(err)
		}
	}
	turn("skills.offered skills=s0,s1")
	turn()
	w.EditBody("s0")
	turn()
	w.Add("s9")
	turn()
	turn("skills.offered skills=s0,s1,s9")
	c.Runtime = chattest.Open(t, w.Files, satchel.WithTrace(log))
	turn("skills.offered skills=s0,s1,s9")
}

// An answer that names a skill uses it, if its text was in the request.
func TestNamedInAnAnswer(t *testing.T) {
	log := &eventLog{}
	c := chattest.NewChat(t, chattest.Open(t, traceSkills(), satchel.WithEvents(log.Event))).Say(core.User, "one")
	answer := func(text string, want ...string) {
		t.Helper()
		c.View()
		c.Runtime.Hooks().Answered(c.Context, core.ModelAnswer{Key: c.Key, Text: text})
		chattest.Same(t, "used", log.lines(core.SkillUsed), want...)
	}
	answer("I will use free and guard.")
	c.Calls("skill_load free")
	answer("By free, not by guard. free!", "skill.used skill=free detail=named")
	answer("freely")
	answer("")
	c.Answer("done")
	c.Say(core.User, "two")
	answer("free again", "skill.used skill=free detail=named") // its text is still in view
	c.Calls(`skill_load {"skill":"free"}`, `skill_unload {"skills":["free"]}`)
	answer("free")
}

// Events and views of a fork have the turn of its parent and the name of its skill.
func TestTraceOfAFork(t *testing.T) {
	log := &eventLog{}
	var views []core.View
	run := func(ctx context.Context, r satchel.ForkRequest) (string, error) {
		messages := []core.Message{{Role: core.User, Text: r.Task}}
		view, err := r.Runtime.Agent(r.Key).Prepare(ctx, core.Request{Messages: messages})
		views = append(views, view)
		r.Runtime.Hooks().Answered(ctx, core.ModelAnswer{Key: r.Key, Text: "by report"})
		return "by report", err
	}
	c := chattest.NewChat(t, chattest.Open(t, forkSkills(), satchel.WithTrace(log), satchel.WithFork(satchel.Fork{Run: run})))
	c.Say(core.User, "one")
	c.Turn("two").Calls("skill_load report")
	chattest.Same(t, "events", log.lines(core.SkillLoaded, core.SkillUsed, core.SkillsOffered, core.ForkBegun),
		"skills.offered skills=audit,plain,report,strict", "fork.begun skill=report fork=report",
		"skill.loaded skill=report by=model load=1 id=id-1 fork=report", "skill.used skill=report fork=report detail=named")
	if len(views) != 1 || views[0].Trace == nil {
		t.Fatalf("the views of the fork are %+v", views)
	}
	if tr := views[0].Trace; tr.Turn != 2 || tr.Fork != "report" || !strings.Contains(tr.Prompt, "Carry out") {
		t.Errorf("the trace of the fork's view is %+v", tr)
	}
}

// A break of the prefix says which message differs, why, and what is sent again.
func TestTraceOfABreak(t *testing.T) {
	log := &eventLog{}
	c := chattest.NewChat(t, chattest.Open(t, traceSkills(), satchel.WithTrace(log), satchel.WithLoading(satchel.Loading{Mode: loadmode.Session})))
	c.Say(core.System, "You help.").Say(core.User, "hi")
	c.Calls("skill_load free")
	c.View()
	c.Messages[1].Text = "hello"
	c.View()
	for _, e := range log.events {
		if e.Kind == core.PrefixBroken {
			if e.Message != 1 || e.Cause == "" || e.Tokens == 0 {
				t.Errorf("message %d, cause %q, %d tokens, want message 1 and what it costs", e.Message, e.Cause, e.Tokens)
			}
			return
		}
	}
	t.Error("no break was reported")
}

// A load says how much text it brings; text that is in view already is none.
func TestTokensOfLoads(t *testing.T) {
	log := &eventLog{}
	c := chattest.NewChat(t, chattest.Open(t, traceSkills(), satchel.WithTrace(log), satchel.WithLoading(satchel.Loading{Preload: []string{"guard"}})))
	c.Say(core.User, "hi")
	c.Calls("skill_load free", "skill_load free", `skill_select_docs {"skill":"free","docs":["more.md"]}`)
	var got []string
	for _, e := range log.events {
		if e.Kind == core.SkillLoaded || e.Kind == core.DocsSelected {
			got = append(got, fmt.Sprint(e.Kind, " ", e.Skill, " ", e.Tokens > 0))
		}
	}
	chattest.Same(t, "loads", got, "skill.loaded guard true", "skill.loaded free true", "skill.loaded free false", "docs.selected free true")
}
