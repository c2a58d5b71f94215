package eino_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// The host's tools of the other three kinds.
type streamTool struct{ hostTool }

func (h *streamTool) StreamableRun(ctx context.Context, args string, _ ...tool.Option) (*schema.StreamReader[string], error) {
	out, err := h.hostTool.InvokableRun(ctx, args)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]string{out[:1], out[1:]}), nil
}

// onlyStream hides InvokableRun, so that Eino sees a streaming tool only.
type onlyStream struct{ t *streamTool }

func (o onlyStream) Info(ctx context.Context) (*schema.ToolInfo, error) { return o.t.Info(ctx) }
func (o onlyStream) StreamableRun(ctx context.Context, args string, opts ...tool.Option) (*schema.StreamReader[string], error) {
	return o.t.StreamableRun(ctx, args, opts...)
}

type enhancedTool struct{ hostTool }

func (h *enhancedTool) result(ctx context.Context, args string) (*schema.ToolResult, error) {
	out, err := h.hostTool.InvokableRun(ctx, args)
	if err != nil {
		return nil, err
	}
	url := "https://example.com/plot.png"
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{
		{Type: schema.ToolPartTypeText, Text: out},
		{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: schema.MessagePartCommon{URL: &url}}},
	}}, nil
}

type onlyEnhanced struct{ t *enhancedTool }

func (o onlyEnhanced) Info(ctx context.Context) (*schema.ToolInfo, error) { return o.t.Info(ctx) }
func (o onlyEnhanced) InvokableRun(ctx context.Context, arg *schema.ToolArgument, _ ...tool.Option) (*schema.ToolResult, error) {
	return o.t.result(ctx, arg.Text)
}

type onlyEnhancedStream struct{ t *enhancedTool }

func (o onlyEnhancedStream) Info(ctx context.Context) (*schema.ToolInfo, error) { return o.t.Info(ctx) }
func (o onlyEnhancedStream) StreamableRun(ctx context.Context, arg *schema.ToolArgument, _ ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	r, err := o.t.result(ctx, arg.Text)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]*schema.ToolResult{r}), nil
}

// fourKinds are four tools of the host, one of each kind, and how often each ran.
func fourKinds() (tools []tool.BaseTool, ran func(name string) int) {
	var mu sync.Mutex
	counts := map[string]int{}
	host := func(name string) hostTool {
		return hostTool{name: name, run: func(context.Context, string) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			counts[name]++
			return "ran " + name, nil
		}}
	}
	invokable := host("invokable")
	tools = []tool.BaseTool{
		&invokable,
		onlyStream{&streamTool{host("streamable")}},
		onlyEnhanced{&enhancedTool{host("enhanced")}},
		onlyEnhancedStream{&enhancedTool{host("enhanced_streamable")}},
	}
	return tools, func(name string) int {
		mu.Lock()
		defer mu.Unlock()
		return counts[name]
	}
}

var kinds = []string{"invokable", "streamable", "enhanced", "enhanced_streamable"}

// recorder is a gate hook that denies the named tools.
type recorder struct {
	mu     sync.Mutex
	denied []string
	seen   []core.ToolCall
	keys   []core.SessionKey
}

func (r *recorder) gate(_ context.Context, key core.SessionKey, c core.ToolCall) core.Decision {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, c)
	r.keys = append(r.keys, key)
	if slices.Contains(r.denied, c.Name) {
		return core.Decision{Denied: true, Reason: "not allowed: " + c.Name}
	}
	return core.Decision{}
}

func TestGateSeesAllFourKinds(t *testing.T) {
	for _, deny := range []bool{false, true} {
		for _, kind := range kinds {
			name := kind + "/allowed"
			if deny {
				name = kind + "/denied"
			}
			t.Run(name, func(t *testing.T) {
				both(t, func(t *testing.T, streaming bool) {
					gate := &recorder{}
					if deny {
						gate.denied = kinds
					}
					tools, ran := fourKinds()
					m := script(calling(call("1", kind, `{"x":1}`)), say("done"))
					cfg := &adk.ChatModelAgentConfig{Model: m, ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: tools}}}
					install(t, cfg, newRuntime(t, satchel.WithGate(gate.gate)))
					noErrors(t, run(t, newAgent(t, cfg), "s", streaming, schema.UserMessage("q")))

					if len(gate.seen) != 1 || gate.seen[0] != (core.ToolCall{ID: "1", Name: kind, Arguments: `{"x":1}`}) {
						t.Fatalf("gate saw %+v, want the call once", gate.seen)
					}
					if want := (core.SessionKey{Session: "s", Agent: "agent"}); gate.keys[0] != want {
						t.Errorf("gate got key %+v, want %+v", gate.keys[0], want)
					}
					want, runs := "ran "+kind, 1
					if deny {
						want, runs = "not allowed: "+kind, 0
					}
					if got := ran(kind); got != runs {
						t.Errorf("tool ran %d times, want %d", got, runs)
					}
					req := m.request(t, 1)
					if got := text(req[len(req)-1]); got != want {
						t.Errorf("result is %q, want %q", got, want)
					}
				})
			})
		}
	}
}

func TestGateDeniesOneOfSeveral(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		gate := &recorder{denied: []string{"enhanced", "skill_load"}}
		tools, ran := fourKinds()
		m := script(calling(call("1", "skill_load", `{"skill":"pdf"}`), call("2", "enhanced", "{}"),
			call("3", "skill_read", `{"skill":"pdf","path":"forms.md"}`), call("4", "invokable", "{}")), say("done"))
		cfg := &adk.ChatModelAgentConfig{Model: m, ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{
			Tools: tools[:1:1]}}}
		cfg.ToolsConfig.Tools = append(cfg.ToolsConfig.Tools, tools[2])
		install(t, cfg, newRuntime(t, satchel.WithGate(gate.gate)))
		noErrors(t, run(t, newAgent(t, cfg), "s", streaming, schema.UserMessage("q")))
		req := m.request(t, 1)
		if shows(req, pdfBody) != 0 || shows(req, "not allowed: skill_load") != 1 || ran("enhanced") != 0 || ran("invokable") != 1 {
			t.Errorf("request is:\n%s", allText(req))
		}
	})
}

func TestGateRunsBeforeTheHostsMiddleware(t *testing.T) {
	gate := &recorder{denied: []string{"invokable"}}
	tools, _ := fourKinds()
	reached := 0
	m := script(calling(call("1", "invokable", "{}")), say("done"))
	cfg := &adk.ChatModelAgentConfig{Model: m, ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{
		Tools: tools, ToolCallMiddlewares: []compose.ToolMiddleware{{
			Invokable: func(next compose.InvokableToolEndpoint) compose.InvokableToolEndpoint {
				reached++
				return func(ctx context.Context, in *compose.ToolInput) (*compose.ToolOutput, error) {
					t.Error("a denied call reached the host's middleware")
					return next(ctx, in)
				}
			}}}}}}
	install(t, cfg, newRuntime(t, satchel.WithGate(gate.gate)))
	noErrors(t, run(t, newAgent(t, cfg), "s", false, schema.UserMessage("q")))
	if reached == 0 {
		t.Error("the host's middleware is gone")
	}
}

// A skill tool runs only what was judged. It judges a call itself if a middleware of the host
// has changed it, or if it comes without the middleware.
func TestSkillToolsJudgeWhatTheyRun(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		gate := &recorder{}
		m := script(calling(call("1", "skill_load", `{"skill":"csv"}`)), say("done"))
		cfg := &adk.ChatModelAgentConfig{Model: m, ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{
			ToolCallMiddlewares: []compose.ToolMiddleware{{
				Invokable: func(next compose.InvokableToolEndpoint) compose.InvokableToolEndpoint {
					return func(ctx context.Context, in *compose.ToolInput) (*compose.ToolOutput, error) {
						changed := *in
						changed.Arguments = `{"skill":"pdf"}`
						return next(ctx, &changed)
					}
				}}}}}}
		install(t, cfg, newRuntime(t, satchel.WithGate(gate.gate)))
		noErrors(t, run(t, newAgent(t, cfg), "s", streaming, schema.UserMessage("q")))
		if len(gate.seen) != 2 || gate.seen[0].Arguments != `{"skill":"csv"}` || gate.seen[1].Arguments != `{"skill":"pdf"}` {
			t.Errorf("gate saw %+v", gate.seen)
		}
		if req := m.request(t, 1); shows(req, pdfBody) != 1 || shows(req, csvBody) != 0 {
			t.Errorf("request is:\n%s", allText(req))
		}
	})
	gate := &recorder{denied: []string{"skill_load"}}
	ctx := satchel.WithSession(t.Context(), "s")
	bare, ok := newAdapter(t, newRuntime(t, satchel.WithGate(gate.gate))).Tools()[0].(tool.InvokableTool)
	if !ok {
		t.Fatal("a skill tool cannot be invoked")
	}
	if got, err := bare.InvokableRun(ctx, `{"skill":"pdf"}`); err != nil || got != "not allowed: skill_load" {
		t.Errorf("without the middleware: %q, %v", got, err)
	}
}

func TestUnknownTools(t *testing.T) {
	for _, tc := range []struct {
		name    string
		handler bool
		denied  []string
		want    string
	}{
		{name: "handler", handler: true, want: "no tool ghost"},
		{name: "handler, denied", handler: true, denied: []string{"ghost"}, want: "not allowed: ghost"},
		{name: "no handler", want: `error: there is no tool "ghost"; call one that you were given, such as skill_load, skill_select_docs, skill_list_docs, skill_unload, skill_read, skill_run, skill_exec, skill_write_stdin, skill_poll_session, skill_kill_session`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			both(t, func(t *testing.T, streaming bool) {
				gate := &recorder{denied: tc.denied}
				m := script(calling(call("1", "ghost", `{"a":1}`)), say("done"))
				cfg := &adk.ChatModelAgentConfig{Model: m}
				if tc.handler {
					cfg.ToolsConfig.UnknownToolsHandler = func(_ context.Context, name, _ string) (string, error) {
						return "no tool " + name, nil
					}
				}
				install(t, cfg, newRuntime(t, satchel.WithGate(gate.gate)))
				events := run(t, newAgent(t, cfg), "s", streaming, schema.UserMessage("q"))
				noErrors(t, events)
				if !tc.handler {
					if len(gate.seen) != 0 {
						t.Errorf("gate saw %v, want nothing: nothing is run", gate.seen)
					}
				} else if len(gate.seen) != 1 || gate.seen[0] != (core.ToolCall{ID: "1", Name: "ghost", Arguments: `{"a":1}`}) {
					t.Errorf("gate saw %+v, want the call once", gate.seen)
				}
				req := m.request(t, 1)
				if got := text(req[len(req)-1]); got != tc.want {
					t.Errorf("result is %q, want %q", got, tc.want)
				}
			})
		})
	}
}

func TestErrorsOfHostToolsAreTheirOwn(t *testing.T) {
	boom := errors.New("boom")
	for _, where := range []string{"tool", "unknown"} {
		t.Run(where, func(t *testing.T) {
			m := script(calling(call("1", where, "{}")), say("done"))
			cfg := &adk.ChatModelAgentConfig{Model: m}
			cfg.ToolsConfig.Tools = []tool.BaseTool{&hostTool{name: "tool", run: func(context.Context, string) (string, error) { return "", boom }}}
			cfg.ToolsConfig.UnknownToolsHandler = func(context.Context, string, string) (string, error) { return "", boom }
			install(t, cfg, newRuntime(t))
			events := run(t, newAgent(t, cfg), "s", false, schema.UserMessage("q"))
			if last := events[len(events)-1]; !errors.Is(last.Err, boom) {
				t.Errorf("run ended in %v, want the tool's error", last.Err)
			}
		})
	}
}

// A load that never ran must not hold up a later load of the same message,
// which waits for it until its end is reported.
func TestEveryEndOfACallIsReported(t *testing.T) {
	first := func(id string) bool { return id == "1" }
	denying := satchel.WithGate(func(_ context.Context, _ core.SessionKey, c core.ToolCall) core.Decision {
		return core.Decision{Denied: first(c.ID), Reason: "no"}
	})
	stopping := func(stop func() error) []compose.ToolMiddleware {
		return []compose.ToolMiddleware{{Invokable: func(next compose.InvokableToolEndpoint) compose.InvokableToolEndpoint {
			return func(ctx context.Context, in *compose.ToolInput) (*compose.ToolOutput, error) {
				if first(in.CallID) {
					return nil, stop()
				}
				return next(ctx, in)
			}
		}}}
	}
	for _, tc := range []struct {
		name string
		opts []satchel.Option
		host []compose.ToolMiddleware
		ends bool // the run returns an error
	}{
		{name: "denied", opts: []satchel.Option{denying}},
		{name: "failed", host: stopping(func() error { return errors.New("host middleware") }), ends: true},
		{name: "panicked", host: stopping(func() error { panic("host middleware") }), ends: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := script(calling(call("0", "invokable", "{}"), call("1", "skill_load", `{"skill":"pdf"}`),
				call("2", "skill_load", `{"skill":"csv"}`)), say("done"))
			tools, _ := fourKinds()
			cfg := &adk.ChatModelAgentConfig{Model: m}
			cfg.ToolsConfig.Tools, cfg.ToolsConfig.ToolCallMiddlewares = tools, tc.host
			install(t, cfg, newRuntime(t, tc.opts...))
			events := run(t, newAgent(t, cfg), "s", false, schema.UserMessage("q"))
			if last := events[len(events)-1]; (last.Err != nil) != tc.ends {
				t.Errorf("run ended in %v", last.Err)
			}
		})
	}
}
