package eino_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
)

type graphState struct{ messages []*schema.Message }

// loop is a plain graph of a host: model, tools, model … With local state the history is in
// that state, otherwise in a variable of the run.
func loop(t testing.TB, a *eino.Adapter, inner model.ToolCallingChatModel, opts ...compose.NewGraphOption) compose.Runnable[[]*schema.Message, *schema.Message] {
	t.Helper()
	ctx := t.Context()
	wrapped, err := a.Model(inner)
	if err != nil {
		t.Fatal(err)
	}
	cfg := &compose.ToolsNodeConfig{Tools: a.Tools(), ToolCallMiddlewares: []compose.ToolMiddleware{a.ToolMiddleware()}}
	node, err := compose.NewToolNode(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	step := compose.NewGraph[[]*schema.Message, *schema.Message](opts...)
	history := func(ctx context.Context, in []*schema.Message) (out []*schema.Message, err error) {
		err = compose.ProcessState(ctx, func(_ context.Context, s *graphState) error {
			s.messages = append(s.messages, in...)
			out = s.messages
			return nil
		})
		if err != nil {
			return in, nil // the graph has no state
		}
		return out, nil
	}
	remember := func(ctx context.Context, m *schema.Message) (*schema.Message, error) {
		_ = compose.ProcessState(ctx, func(_ context.Context, s *graphState) error {
			s.messages = append(s.messages, m)
			return nil
		})
		return m, nil
	}
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	check(step.AddLambdaNode("history", compose.InvokableLambda(history)))
	check(step.AddChatModelNode("model", wrapped))
	check(step.AddLambdaNode("remember", compose.InvokableLambda(remember)))
	check(step.AddToolsNode("tools", node))
	check(step.AddEdge(compose.START, "history"))
	check(step.AddEdge("history", "model"))
	check(step.AddEdge("model", "remember"))
	check(step.AddBranch("remember", compose.NewGraphBranch(func(_ context.Context, m *schema.Message) (string, error) {
		if len(m.ToolCalls) > 0 {
			return "tools", nil
		}
		return compose.END, nil
	}, map[string]bool{"tools": true, compose.END: true})))
	check(step.AddEdge("tools", "history"))
	r, err := step.Compile(ctx)
	check(err)
	return r
}

func withState() compose.NewGraphOption {
	return compose.WithGenLocalState(func(context.Context) *graphState { return &graphState{} })
}

func newAdapter(t testing.TB, rt *satchel.Runtime, opts ...eino.Option) *eino.Adapter {
	t.Helper()
	a, err := eino.New(rt, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func ended(t testing.TB, ctx context.Context, r compose.Runnable[[]*schema.Message, *schema.Message], streaming bool, in ...*schema.Message) *schema.Message {
	t.Helper()
	if !streaming {
		out, err := r.Invoke(ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	s, err := r.Stream(ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := schema.ConcatMessageStream(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestGraph(t *testing.T) {
	for name, session := range map[string]string{"named": "s", "anonymous": ""} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, streaming bool) {
				m := script(loading("1", "pdf"), loading("2", "csv"), say("done"))
				r := loop(t, newAdapter(t, newRuntime(t)), m, withState())
				ctx := t.Context()
				if session != "" {
					ctx = satchel.WithSession(ctx, session)
				}
				if out := ended(t, ctx, r, streaming, schema.UserMessage("q")); out.Content != "done" {
					t.Errorf("answer is %q", out.Content)
				}
				req := m.request(t, 2)
				if shows(req, pdfBody) != 1 || shows(req, csvBody) != 1 {
					t.Errorf("request is:\n%s", allText(req))
				}
			})
		})
	}
}

func TestGraphWithoutState(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		m := script(say("done"), say("done"))
		r := loop(t, newAdapter(t, newRuntime(t)), m)
		var err error
		if streaming {
			_, err = r.Stream(t.Context(), []*schema.Message{schema.UserMessage("q")})
		} else {
			_, err = r.Invoke(t.Context(), []*schema.Message{schema.UserMessage("q")})
		}
		if !errors.Is(err, satchel.ErrNoSession) || !strings.Contains(err.Error(), "satchel.WithSession") {
			t.Errorf("got %v, want an error that names satchel.WithSession", err)
		}
		if m.calls() != 0 {
			t.Error("the model was called")
		}
		if out := ended(t, satchel.WithSession(t.Context(), "s"), r, streaming, schema.UserMessage("q")); out.Content != "done" {
			t.Errorf("answer in a named session is %q", out.Content)
		}
	})
}

// States that do not tell runs apart: by value, and the one empty struct.
func TestGraphWithAnonymousStateThatIsNone(t *testing.T) {
	for name, opt := range map[string]compose.NewGraphOption{
		"value":        compose.WithGenLocalState(func(context.Context) string { return "state" }),
		"empty struct": compose.WithGenLocalState(func(context.Context) *struct{} { return &struct{}{} }),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := loop(t, newAdapter(t, newRuntime(t)), script(), opt).Invoke(t.Context(), []*schema.Message{schema.UserMessage("q")})
			if !errors.Is(err, satchel.ErrNoSession) {
				t.Errorf("got %v, want %v", err, satchel.ErrNoSession)
			}
		})
	}
}

func TestToolOutsideOfARun(t *testing.T) {
	a := newAdapter(t, newRuntime(t))
	out := a.ToolMiddleware().Invokable(func(context.Context, *compose.ToolInput) (*compose.ToolOutput, error) {
		t.Error("the tool was run")
		return nil, nil
	})
	if _, err := out(t.Context(), &compose.ToolInput{Name: "x"}); !errors.Is(err, satchel.ErrNoSession) {
		t.Errorf("got %v, want %v", err, satchel.ErrNoSession)
	}
	if _, err := a.UnknownTools(nil)(t.Context(), "x", "{}"); !errors.Is(err, satchel.ErrNoSession) {
		t.Errorf("an unknown tool: got %v, want %v", err, satchel.ErrNoSession)
	}
}

func TestModelErrors(t *testing.T) {
	a := newAdapter(t, newRuntime(t))
	if _, err := a.Model(nil); !errors.Is(err, eino.ErrNoModel) {
		t.Errorf("got %v, want %v", err, eino.ErrNoModel)
	}
	m, err := a.Model(script())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Model(m); !errors.Is(err, eino.ErrInstalled) {
		t.Errorf("got %v, want %v", err, eino.ErrInstalled)
	}
	if kind, _ := components.GetType(m); kind != "Scripted" {
		t.Errorf("type is %q, want that of the wrapped model", kind)
	}
	if _, err := eino.New(nil); !errors.Is(err, eino.ErrNoRuntime) {
		t.Errorf("got %v, want %v", err, eino.ErrNoRuntime)
	}
}
