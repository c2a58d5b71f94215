package eino_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
)

// refusingModel is a model whose client refuses file parts before it sends anything, as Eino's
// client for OpenAI does.
type refusingModel struct {
	model.ToolCallingChatModel
	refused *atomic.Int64
	err     error
}

func (m refusingModel) check(messages []*schema.Message) error {
	for _, message := range messages {
		if slices.ContainsFunc(message.UserInputMultiContent, func(p schema.MessageInputPart) bool { return p.Type == schema.ChatMessagePartTypeFileURL }) {
			m.refused.Add(1)
			return m.err
		}
	}
	return nil
}

func (m refusingModel) Generate(ctx context.Context, messages []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	if err := m.check(messages); err != nil {
		return nil, err
	}
	return m.ToolCallingChatModel.Generate(ctx, messages, opts...)
}

func (m refusingModel) Stream(ctx context.Context, messages []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	if err := m.check(messages); err != nil {
		return nil, err
	}
	return m.ToolCallingChatModel.Stream(ctx, messages, opts...)
}

func (m refusingModel) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	bound, err := m.ToolCallingChatModel.WithTools(tools)
	m.ToolCallingChatModel = bound
	return m, err
}

// A client that refuses file parts does not end the run: the adapter removes them, in later
// requests from the start, and the message says where the files are. Other errors end the run.
func TestRefusedFileParts(t *testing.T) {
	for _, stream := range []bool{false, true} {
		var refused atomic.Int64
		m := script(say("one"), say("two"))
		rt := newRuntime(t)
		cfg := &adk.ChatModelAgentConfig{Name: "a", Description: "d", Model: refusingModel{m, &refused, errors.New("unsupported chat message part type: file_url")}}
		install(t, cfg, rt)
		agent, err := adk.NewChatModelAgent(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		ctx := satchel.WithSession(t.Context(), "s")
		runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: stream})
		history := []adk.Message{fileMessage("https://example.com/a", [2]string{"x.csv", "x,y\n"})}
		for range 2 {
			noErrors(t, drain(t, runner.Run(ctx, history)))
			history = append(history, schema.AssistantMessage("said", nil), schema.UserMessage("and then?"))
		}
		if refused.Load() != 1 {
			t.Errorf("stream %v: the client was asked %d times with file parts, want 1", stream, refused.Load())
		}
		for i := range 2 {
			request := m.request(t, i)
			at := slices.IndexFunc(request, func(m *schema.Message) bool { return len(m.UserInputMultiContent) > 0 })
			if at < 0 || !strings.Contains(request[at].UserInputMultiContent[len(request[at].UserInputMultiContent)-1].Text, "[attached: work/inputs/x.csv") {
				t.Errorf("stream %v: request %d does not say where the file is: %v", stream, i+1, request)
			}
		}
	}

	for message, hint := range map[string]bool{
		"file_url is too large": true, "400: invalid type 'file' in messages": true, "multi-content is not taken": true, "dial tcp: connection refused": false,
	} {
		t.Run(message, func(t *testing.T) {
			both(t, func(t *testing.T, streaming bool) { otherRefusal(t, streaming, message, hint) })
		})
	}
}

// otherRefusal runs an agent whose client fails at file parts with an unknown error. If the
// error may be about file parts, the adapter adds the name of the option.
func otherRefusal(t *testing.T, streaming bool, message string, hint bool) {
	var refused atomic.Int64
	own := errors.New(message)
	cfg := &adk.ChatModelAgentConfig{Name: "a", Description: "d", Model: refusingModel{script(say("one")), &refused, own}}
	install(t, cfg, newRuntime(t))
	agent, err := adk.NewChatModelAgent(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx := satchel.WithSession(t.Context(), "s")
	iter := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: streaming}).Run(ctx, []adk.Message{fileMessage("", [2]string{"x.csv", "x,y\n"})})
	var failed error
	for event, ok := iter.Next(); ok; event, ok = iter.Next() {
		failed = errors.Join(failed, event.Err)
	}
	if !errors.Is(failed, own) || strings.Contains(failed.Error(), "set eino.WithoutFileParts") != hint || refused.Load() != 1 {
		t.Errorf("error %v after %d requests", failed, refused.Load())
	}
}
