package conversation_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
)

// noTracer records nothing.
type noTracer struct{}

func (noTracer) Event(context.Context, core.Event)          {}
func (noTracer) Request(context.Context, core.ModelRequest) {}
func (noTracer) Answer(context.Context, core.ModelAnswer)   {}

// checkTrace: the texts that a view's trace places are those that the view has added, each under
// its own name.
func (c *conversation) checkTrace(a *agent, view core.View) {
	if !c.isTraced {
		if view.Trace != nil {
			c.fail("%s: a view has a trace without a tracer", a.key.Agent)
		}
		return
	}
	if err := wrongTrace(view); err != nil {
		c.fail("%s: %v\n%s\n%+v", a.key.Agent, err, chattest.Shown(view.Messages), view.Trace)
	}
}

// wrongTrace returns an error if the texts of a trace are not those that the view has added.
func wrongTrace(view core.View) error {
	placed := make([]int, len(view.Messages)) // the end of the last text of each message
	for i, m := range view.Messages {
		placed[i] = len(m.Text) - len(m.Added)
	}
	message := 0
	for _, p := range view.Trace.Texts {
		if p.Message < message || p.Start != placed[p.Message] || p.End < p.Start {
			return fmt.Errorf("%+v does not follow the text before it, which ends at %d", p, placed[p.Message])
		}
		message, placed[p.Message] = p.Message, p.End
		text := view.Messages[p.Message].Text[p.Start:p.End]
		doc, _, _ := strings.Cut(p.Doc, "#")
		for _, mark := range chattest.Marks.FindAllString(text, -1) {
			want := "{body " + p.Skill + " "
			if p.Doc != "" {
				want = "{doc " + p.Skill + "/" + doc
			}
			if !strings.HasPrefix(mark, want) {
				return fmt.Errorf("%s stands in %+v", mark, p)
			}
		}
	}
	for i, m := range view.Messages {
		if placed[i] != len(m.Text) {
			return fmt.Errorf("message %d: %q is not placed", i, m.Text[placed[i]:])
		}
	}
	return nil
}

// placedTexts lists the texts of a trace, each with how it begins.
func placedTexts(view core.View) (texts []string) {
	for _, p := range view.Trace.Texts {
		text := strings.TrimSpace(view.Messages[p.Message].Text[p.Start:p.End])
		first, _, _ := strings.Cut(text, "\n")
		texts = append(texts, fmt.Sprintf("%d %s/%s %s: %s", p.Message, p.Skill, p.Doc, p.Leaves, first))
	}
	return texts
}

func TestTraceOfAView(t *testing.T) {
	const overview = "0 / never: <available_skills>"
	for name, c := range map[string]struct {
		loading satchel.Loading
		calls   []string
		next    bool // the view is that of the next turn
		want    []string
	}{
		"nothing": {want: []string{overview}},
		"body and docs": {
			calls: []string{`skill_load {"skill":"s0","docs":["d0.md","d1.md"]}`, "skill_load s1"},
			want: []string{
				overview, `3 s0/ when it pays: <skill name="s0">`, `3 s0/d0.md when it pays: <skill_doc skill="s0" path="d0.md">`,
				`3 s0/d1.md when it pays: <skill_doc skill="s0" path="d1.md">`, `4 s1/ when it pays: <skill name="s1">`,
			},
		},
		"ended":   {calls: []string{"skill_load s0"}, next: true, want: []string{overview, `3 s0/ when it pays: <skill name="s0">`}},
		"turn":    {loading: satchel.Loading{Mode: loadmode.Turn}, calls: []string{"skill_load s0"}, want: []string{overview, `3 s0/ turn: <skill name="s0">`}},
		"once":    {loading: satchel.Loading{Mode: loadmode.Once}, calls: []string{"skill_load s0"}, want: []string{overview, `3 s0/ next call: <skill name="s0">`}},
		"session": {loading: satchel.Loading{Mode: loadmode.Session}, calls: []string{"skill_load s0"}, want: []string{overview, `3 s0/ unload: <skill name="s0">`}},
		"system": {
			loading: satchel.Loading{Placement: processors.InSystem},
			calls:   []string{`skill_load {"skill":"s0","docs":["d0.md"]}`, "skill_load s1"},
			want: []string{
				overview, "0 s0/ turn: <active_skills>", `0 s0/d0.md turn: <skill_doc skill="s0" path="d0.md">`, `0 s1/ turn: <skill name="s1">`,
			},
		},
		"preloaded": {
			loading: satchel.Loading{Preload: []string{"s0", "s1"}},
			calls:   []string{`skill_select_docs {"skill":"s0","docs":["d0.md"]}`},
			want: []string{
				overview, `0 s0/ never: <skill name="s0">`, `0 s1/ never: <skill name="s1">`, `3 s0/d0.md when it pays: <skill_doc skill="s0" path="d0.md">`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			opts := []satchel.Option{satchel.WithTrace(noTracer{}), satchel.WithLoading(c.loading)}
			chat := chattest.NewChat(t, chattest.Open(t, chattest.NewWorld(3).Files, opts...))
			chat.Say(core.System, "You help.").Say(core.User, "the prompt")
			if c.calls != nil {
				chat.Calls(c.calls...)
			}
			turn := 1
			if c.next {
				chat.Answer("done")
				chat.Say(core.User, "another")
				turn = 2
			}
			view := viewOf(chat)
			if err := wrongTrace(view); err != nil {
				t.Errorf("%v\n%s", err, chattest.Shown(view.Messages))
			}
			chattest.Same(t, "placed", placedTexts(view), c.want...)
			prompt := []string{"the prompt", "another"}[turn-1]
			if got := view.Trace; got.Turn != turn || got.Fork != "" || got.Prompt != prompt {
				t.Errorf("turn %d, fork %q, prompt %q, want turn %d and prompt %q", got.Turn, got.Fork, got.Prompt, turn, prompt)
			}
		})
	}
}

// viewOf prepares a request with the whole history.
func viewOf(c *chattest.Chat) core.View {
	c.T.Helper()
	v, err := c.Runtime.Prepare(c.Context, core.Request{Key: c.Key, Messages: c.Messages})
	if err != nil {
		c.T.Fatal(err)
	}
	return v
}

// The message for texts without a place of their own moves the messages behind it.
func TestTraceOfTextsWithoutAPlace(t *testing.T) {
	w := chattest.NewWorld(2)
	c := chattest.NewChat(t, chattest.Open(t, w.Files, satchel.WithTrace(noTracer{}), satchel.WithLoading(satchel.Loading{Mode: loadmode.Session})))
	c.Say(core.System, "You help.").Say(core.User, "hi")
	c.Calls("skill_load s0")
	c.Messages = slices.Delete(c.Messages, 2, 4)
	c.Calls("skill_load s1")
	view := viewOf(c)
	if err := wrongTrace(view); err != nil {
		t.Errorf("%v\n%s", err, chattest.Shown(view.Messages))
	}
	chattest.Same(t, "placed", placedTexts(view), "0 / never: <available_skills>", "1 s0/ unload: Loaded skill context:", `4 s1/ unload: <skill name="s1">`)
}

// Loads of the host and of mentions stand in the message of the user, behind the notes.
func TestTraceOfDeclaredTexts(t *testing.T) {
	w := chattest.NewWorld(3)
	c := chattest.NewChat(t, chattest.Open(t, w.Files, satchel.WithTrace(noTracer{}), satchel.WithActivation(satchel.Activation{Mentions: satchel.Dollar})))
	c.Say(core.System, "You help.").Say(core.User, "one")
	c.Answer("done")
	w.Add("s9")
	if err := c.Runtime.Refresh(c.Context); err != nil {
		t.Fatal(err)
	}
	c.Say(core.User, "do it with $s1")
	c.Context = satchel.WithLoads(c.Context, satchel.Load{Skill: "s0", Docs: []string{"d0.md"}})
	view := viewOf(c)
	if err := wrongTrace(view); err != nil {
		t.Errorf("%v\n%s", err, chattest.Shown(view.Messages))
	}
	chattest.Same(t, "placed", placedTexts(view), "0 / never: <available_skills>", "3 / never: <skills_changed>",
		`3 s0/ when it pays: <skill name="s0">`, `3 s0/d0.md when it pays: <skill_doc skill="s0" path="d0.md">`, `3 s1/ when it pays: <skill name="s1">`)
}

func TestTraceOfAViewWithoutSkills(t *testing.T) {
	c := chattest.NewChat(t, chattest.Open(t, fstest.MapFS{}, satchel.WithTrace(noTracer{}))).Say(core.User, "hi")
	if v := viewOf(c); v.Trace == nil || v.Trace.Turn != 1 || v.Trace.Prompt != "hi" || len(v.Trace.Texts) != 0 {
		t.Errorf("the trace is %+v", v.Trace)
	}
}
