package langchaingo

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/memory"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
)

// BenchmarkGenerateContent measures one model call in the middle of a turn: 60
// messages, 12 skills, 3 of them loaded with docs, and a client that only reads
// its options. ns/op is the whole call. adapter-ns/op is the whole call less
// Runtime.Prepare, which is called alternately with it; the limit is 10 µs.
func BenchmarkGenerateContent(b *testing.B) {
	b.Run("executor", func(b *testing.B) { benchExecutor(b, 0) })
	b.Run("executor, earlier turns", func(b *testing.B) { benchExecutor(b, 20) })
	b.Run("loop", func(b *testing.B) { benchLoop(b, openAI, same) })
	b.Run("loop, history read again", func(b *testing.B) { benchLoop(b, openAI, cloned) })
	b.Run("loop, results in one message", func(b *testing.B) { benchLoop(b, openAI, gathered) })
	b.Run("loop, Anthropic", func(b *testing.B) { benchLoop(b, claude, same) })
	b.Run("loop, Google", func(b *testing.B) { benchLoop(b, google, same) })
}

// benchExecutor measures the last model call of an executor.
func benchExecutor(b *testing.B, earlier int) {
	llm := &silentClient{}
	adapter := benchKit(b, llm, WithHistory(func(ctx context.Context) (schema.ChatMessageHistory, error) {
		h := memory.NewChatMessageHistory()
		for i := range earlier / 2 {
			_ = h.AddUserMessage(ctx, fmt.Sprintf("Question %d: %s", i, strings.Repeat("and then? ", 20)))
			_ = h.AddAIMessage(ctx, strings.Repeat("It is so. ", 100))
		}
		return h, nil
	}))
	measured := false
	spy := viewRecorder{adapter.model, func(ctx context.Context, msgs []llms.MessageContent, options []llms.CallOption) {
		n := len(new(scratch).conversation(adapter, msgs, adapter.runIn(ctx)))
		if n < 60 {
			llm.answer = asked(llm.calls)
			return
		}
		measure(b, ctx, adapter, msgs, same, options)
		llm.answer, measured = reply("done"), true
	}}
	agent := adapter.Agent(agents.NewOpenAIFunctionsAgent(spy, adapter.Tools()))
	exec := agents.NewExecutor(agent, agents.WithMaxIterations(40))
	if _, err := chains.Run(satchel.WithSession(b.Context(), "s"), exec, "Find it."); err != nil || !measured {
		b.Fatal(err, measured)
	}
}

// benchLoop measures the last call of a loop of the host's own.
func benchLoop(b *testing.B, client client, change func([]llms.MessageContent) []llms.MessageContent) {
	llm := &silentClient{}
	adapter := benchKit(b, llm, withClient(client))
	ctx := satchel.WithSession(b.Context(), "s")
	offered := llms.WithTools([]llms.Tool{adapter.offer.byName["search"]})
	msgs := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, strings.Repeat("You help. ", 100)), human("Find it.")}
	for len(msgs) < 60 {
		llm.answer = asked(llm.calls)
		resp, err := adapter.Model().GenerateContent(ctx, msgs, offered)
		if err != nil {
			b.Fatal(err)
		}
		msgs = append(msgs, verbatimMessage(resp.Choices[0]))
		for _, c := range resp.Choices[0].ToolCalls {
			answer, err := adapter.Call(ctx, c)
			if err != nil {
				b.Fatal(err)
			}
			msgs = append(msgs, result(answer))
		}
	}
	measure(b, ctx, adapter, msgs, change, []llms.CallOption{offered})
}

func measure(b *testing.B, ctx context.Context, a *Adapter, msgs []llms.MessageContent, change func([]llms.MessageContent) []llms.MessageContent, options []llms.CallOption) {
	llm, given := a.model.inner.(*silentClient), change(msgs)
	llm.answer = asked(13)
	key, _ := a.session(ctx)
	keyed := adapter.WithKey(ctx, key)
	req := core.Request{Key: key, Messages: new(scratch).coreMessages(new(scratch).conversation(a, given, a.runIn(ctx)))}
	if len(req.Messages) != 60 {
		b.Fatalf("%d messages", len(req.Messages))
	}
	whole := func() {
		if _, err := a.model.GenerateContent(ctx, given, options...); err != nil {
			b.Fatal(err)
		}
	}
	view := func() {
		if _, err := a.runtime.Prepare(keyed, req); err != nil {
			b.Fatal(err)
		}
	}
	whole()
	llm.check(b)
	allocs := testing.AllocsPerRun(100, whole) - testing.AllocsPerRun(100, view)
	var wholes, views time.Duration
	for b.Loop() {
		given = change(msgs)
		began := time.Now()
		whole()
		ended := time.Now()
		view()
		wholes, views = wholes+ended.Sub(began), views+time.Since(ended)
	}
	n := float64(b.N)
	b.ReportMetric(float64(wholes)/n, "ns/op")
	b.ReportMetric(float64(views)/n, "prepare-ns/op")
	b.ReportMetric(float64(wholes-views)/n, "adapter-ns/op")
	b.ReportMetric(allocs, "adapter-allocs/op")
}

func same(msgs []llms.MessageContent) []llms.MessageContent { return msgs }

// cloned is the history of a host that reads it from a store for each call.
func cloned(msgs []llms.MessageContent) []llms.MessageContent {
	out := deepCopy(msgs)
	for _, m := range out {
		for i, part := range m.Parts {
			switch p := part.(type) {
			case llms.TextContent:
				m.Parts[i] = llms.TextContent{Text: strings.Clone(p.Text)}
			case llms.ToolCall:
				f := p.FunctionCall
				m.Parts[i] = call(strings.Clone(p.ID), strings.Clone(f.Name), strings.Clone(f.Arguments))
			case llms.ToolCallResponse:
				m.Parts[i] = llms.ToolCallResponse{ToolCallID: strings.Clone(p.ToolCallID), Name: strings.Clone(p.Name), Content: strings.Clone(p.Content)}
			}
		}
	}
	return out
}

// gathered has all results of a response in one message.
func gathered(msgs []llms.MessageContent) []llms.MessageContent { return joinResults(msgs) }

// asked returns response n. The first one loads the skills, and two of the others call two
// tools. Their arguments have about 100 to 400 bytes.
func asked(n int) *llms.ContentResponse {
	var all []llms.ToolCall
	switch n {
	case 0:
		for i := range 3 {
			all = append(all, call(fmt.Sprint("load_", i), "skill_load", fmt.Sprintf(`{"skill":"s%d","docs":["d0.md","d1.md"]}`, i)))
		}
	case 6, 12:
		all = append(all, searching(n, "second"))
		fallthrough
	default:
		all = append(all, searching(n, "first"))
	}
	r := reply("Let me look for it.", all...)
	r.Choices[0].StopReason = "tool_calls"
	r.Choices[0].GenerationInfo = map[string]any{"PromptTokens": 20000, "CompletionTokens": 80, "TotalTokens": 20080, "PromptCachedTokens": 19000}
	return r
}

func searching(n int, which string) llms.ToolCall {
	query := strings.Repeat(`what is \"it\"? `, 2+n%16)
	return call(fmt.Sprintf("call_%s_%024d", which, n), "search",
		fmt.Sprintf(`{"query":"%s","page":%d,"filter":{"kind":["file","folder"],"deep":true,"size":1.5e3,"owner":null}}`, query, n))
}

func benchKit(b *testing.B, llm llms.Model, opts ...Option) *Adapter {
	files := fstest.MapFS{}
	for i := range 12 {
		name := fmt.Sprint("s", i)
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: fmt.Appendf(nil, "---\nname: %s\ndescription: Purpose %d.\n---\n%s", name, i, strings.Repeat("Do this, then that. ", 400))}
		files[name+"/d0.md"] = &fstest.MapFile{Data: []byte("First doc.\n")}
		files[name+"/d1.md"] = &fstest.MapFile{Data: []byte("Second doc.\n")}
	}
	rt, err := satchel.New(satchel.WithSkillFS("skills", files))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = rt.Close() })
	search := hostTool{"search", func(context.Context, string) (string, error) { return strings.Repeat("found this ", 50), nil }}
	return install(b, rt, llm, []tools.Tool{search}, opts...)
}

// silentClient is a client that sends nothing.
type silentClient struct {
	answer *llms.ContentResponse
	calls  int
	sent   []llms.MessageContent
}

func (s *silentClient) GenerateContent(_ context.Context, msgs []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	var opts llms.CallOptions
	for _, option := range options {
		option(&opts)
	}
	s.calls, s.sent = s.calls+1, msgs
	return s.answer, nil
}

func (s *silentClient) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return "", nil
}

// check fails unless the last request is the one that is to be measured.
func (s *silentClient) check(b *testing.B) {
	b.Helper()
	text, parts := whole(s.sent), 0
	for _, m := range s.sent {
		parts += len(m.Parts)
	}
	if parts < 80 || strings.Count(text, "<skill name=") != 3 || strings.Count(text, "First doc.") != 3 || strings.Count(text, "<available_skills>") != 1 {
		b.Fatalf("%d parts with %d skills", parts, strings.Count(text, "<skill name="))
	}
}

// viewRecorder passes what an agent sends to its model to each.
type viewRecorder struct {
	*viewModel
	each func(context.Context, []llms.MessageContent, []llms.CallOption)
}

func (s viewRecorder) GenerateContent(ctx context.Context, msgs []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	s.each(ctx, msgs, options)
	return s.viewModel.GenerateContent(ctx, msgs, options...)
}
