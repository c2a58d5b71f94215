package eino_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
)

// scripted is a model that answers from a function and records what it is sent.
type scripted struct {
	*record
	bound       []*schema.ToolInfo
	selfReports bool
}

type record struct {
	answer func(in []*schema.Message) (*schema.Message, error)

	mu       sync.Mutex
	seen     [][]*schema.Message
	offered  [][]string
	bindings []int // number of tools in each binding
	withKey  []bool
}

var errScriptEnded = errors.New("script ended")

// script answers with the given messages, one per call.
func script(replies ...*schema.Message) *scripted {
	var n atomic.Int64
	return answering(func([]*schema.Message) (*schema.Message, error) {
		i := int(n.Add(1)) - 1
		if i >= len(replies) {
			return nil, errScriptEnded
		}
		return replies[i], nil
	})
}

func answering(answer func([]*schema.Message) (*schema.Message, error)) *scripted {
	return &scripted{record: &record{answer: answer}}
}

func (s *scripted) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	c := *s
	c.bound = tools
	return &c, nil
}

func (s *scripted) IsCallbacksEnabled() bool { return s.selfReports }
func (s *scripted) GetType() string          { return "Scripted" }

func (s *scripted) reply(ctx context.Context, in []*schema.Message, opts []model.Option) (*schema.Message, error) {
	o := model.GetCommonOptions(&model.Options{Tools: s.bound}, opts...)
	names := make([]string, 0, len(o.Tools))
	for _, t := range o.Tools {
		names = append(names, t.Name)
	}
	_, ok := satchel.KeyFrom(ctx)
	s.mu.Lock()
	s.seen = append(s.seen, cloneMessages(in))
	s.offered = append(s.offered, names)
	s.bindings = append(s.bindings, len(s.bound))
	s.withKey = append(s.withKey, ok)
	s.mu.Unlock()
	return s.answer(in)
}

func (s *scripted) Generate(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	if s.selfReports {
		ctx = callbacks.EnsureRunInfo(ctx, "Scripted", components.ComponentOfChatModel)
		ctx = callbacks.OnStart(ctx, &model.CallbackInput{Messages: in})
	}
	out, err := s.reply(ctx, in, opts)
	if s.selfReports {
		if err != nil {
			callbacks.OnError(ctx, err)
		} else {
			callbacks.OnEnd(ctx, &model.CallbackOutput{Message: out})
		}
	}
	return out, err
}

func (s *scripted) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	out, err := s.reply(ctx, in, opts)
	if err != nil {
		return nil, err
	}
	stream := schema.StreamReaderFromArray(deltas(out))
	if !s.selfReports {
		return stream, nil
	}
	ctx = callbacks.EnsureRunInfo(ctx, "Scripted", components.ComponentOfChatModel)
	ctx = callbacks.OnStart(ctx, &model.CallbackInput{Messages: in})
	_, outputs := callbacks.OnEndWithStreamOutput(ctx, schema.StreamReaderWithConvert(stream,
		func(m *schema.Message) (*model.CallbackOutput, error) { return &model.CallbackOutput{Message: m}, nil }))
	return schema.StreamReaderWithConvert(outputs,
		func(o *model.CallbackOutput) (*schema.Message, error) { return o.Message, nil }), nil
}

// deltas splits a message as providers stream it: calls first, each in three
// pieces by index, the pieces of different calls interleaved.
func deltas(m *schema.Message) []*schema.Message {
	var out []*schema.Message
	add := func(i int, id, name, args string) {
		out = append(out, &schema.Message{Role: schema.Assistant, ToolCalls: []schema.ToolCall{
			{Index: &i, ID: id, Function: schema.FunctionCall{Name: name, Arguments: args}}}})
	}
	for i, c := range m.ToolCalls {
		add(i, c.ID, c.Function.Name, "")
	}
	for i, c := range m.ToolCalls {
		add(i, "", "", c.Function.Arguments[:len(c.Function.Arguments)/2])
	}
	for i, c := range m.ToolCalls {
		add(i, "", "", c.Function.Arguments[len(c.Function.Arguments)/2:])
	}
	half := len(m.Content) / 2
	for _, text := range []string{m.Content[:half], m.Content[half:]} {
		out = append(out, &schema.Message{Role: schema.Assistant, Content: text})
	}
	return append(out, &schema.Message{Role: schema.Assistant, ResponseMeta: m.ResponseMeta})
}

func (s *scripted) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

func (s *scripted) request(t testing.TB, i int) []*schema.Message {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if i >= len(s.seen) {
		t.Fatalf("model was called %d times, want call %d", len(s.seen), i+1)
	}
	return s.seen[i]
}

// speaksFirst streams a text before the calls, as some providers do.
type speaksFirst struct{ *scripted }

func (s *speaksFirst) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	c := *s.scripted
	c.bound = tools
	return &speaksFirst{&c}, nil
}

func (s *speaksFirst) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	out, err := s.reply(ctx, in, opts)
	if err != nil {
		return nil, err
	}
	chunks := deltas(out)
	if len(out.ToolCalls) > 0 {
		chunks = append([]*schema.Message{{Role: schema.Assistant, Content: "Let me see."}}, chunks...)
	}
	return schema.StreamReaderFromArray(chunks), nil
}
