package replay

import (
	"context"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/tools"
)

// coreSystems returns Satchel's runtime without a framework: with its defaults, with the tools of
// the captures of others, and with other settings.
func coreSystems() []System {
	return []System{
		Core("adaptive/tool-result"),
		Core("turn/tool-result", satchel.WithLoading(satchel.Loading{Mode: loadmode.Turn})),
		Core("turn+policy/tool-result", satchel.WithLoading(satchel.Loading{Clearing: loadmode.CachePolicy{Read: 0.1, Write: 1.25, Horizon: 4, TTL: 5 * time.Minute}})),
		Core("session/tool-result", satchel.WithLoading(satchel.Loading{Mode: loadmode.Session})),
		Core("turn/system", satchel.WithLoading(satchel.Loading{Placement: processors.InSystem})),
	}
}

// Core returns Satchel's runtime without a framework, with the tools of the captures of others.
func Core(variant string, opts ...satchel.Option) System {
	return System{Name: "satchel", Variant: variant, play: func(ctx context.Context, s *stage) error {
		return playCore(ctx, s, append([]satchel.Option{satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly})}, opts...))
	}}
}

func playCore(ctx context.Context, s *stage, opts []satchel.Option) error {
	rt, err := satchel.New(append(opts, satchel.WithSkillDirs(s.skills), satchel.WithStore(s.store))...)
	if err != nil {
		return err
	}
	defer rt.Close()
	offered := s.Tools[:len(s.Tools):len(s.Tools)]
	for _, t := range rt.Tools() {
		offered = append(offered, prompt.Tool{Name: t.Name, Description: t.Description, Parameters: t.Schema})
	}
	h := host{stage: s, runtime: rt, key: core.SessionKey{Session: s.Name}, tools: offered}
	if s.Instruction != "" {
		h.history = []core.Message{{Role: core.System, Text: s.Instruction}}
	}
	for turn := range s.Turns {
		h.history = append(h.history, core.Message{Role: core.User, Text: s.begin(turn)})
		if err := h.answer(ctx); err != nil {
			return err
		}
	}
	return nil
}

// host is an agent loop around a runtime.
type host struct {
	*stage
	runtime *satchel.Runtime
	key     core.SessionKey
	tools   []prompt.Tool
	history []core.Message
}

// answer calls the model and its tools until the model ends the turn.
func (h *host) answer(ctx context.Context) error {
	for {
		view, err := h.runtime.Prepare(ctx, core.Request{Key: h.key, Messages: h.history})
		if err != nil {
			return err
		}
		a := h.send(h.tools, captured(view.Messages), satchelCalls)
		var calls []core.ToolCall
		for _, c := range a.calls {
			calls = append(calls, core.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
		}
		if err := h.runtime.Hooks().Observe(ctx, h.key, calls); err != nil {
			return err
		}
		h.history = append(h.history, core.Message{Role: core.Assistant, Text: a.say, Calls: calls})
		if calls == nil {
			return nil
		}
		for _, c := range calls {
			text, err := h.execute(ctx, c)
			if err != nil {
				return err
			}
			h.history = append(h.history, core.Message{Role: core.ToolResult, CallID: c.ID, Tool: c.Name, Text: text})
		}
	}
}

func (h *host) execute(ctx context.Context, c core.ToolCall) (string, error) {
	if h.runtime.Hooks().Owns(c.Name) {
		return h.runtime.CallTool(ctx, h.key, c)
	}
	return h.result(c.ID)
}

func captured(view []core.Message) []prompt.Message {
	var messages []prompt.Message
	for i := range view {
		m := prompt.Message{Role: view[i].Role.String(), Content: view[i].Text, CallID: view[i].CallID, Name: view[i].Tool}
		for _, c := range view[i].Calls {
			m.Calls = append(m.Calls, prompt.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
		}
		messages = append(messages, m)
	}
	return messages
}
