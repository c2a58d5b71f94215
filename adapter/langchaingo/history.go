package langchaingo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// Conversations keeps the earlier turns of named sessions in memory, for
// [WithHistory]:
//
//	langchaingo.WithHistory(langchaingo.NewConversations().History)
//
// It keeps whole turns, as a [TurnHistory] does: at most 1,000 messages per session
// and agent, and 1,000 sessions. When a conversation is full its older half goes at
// once, so that the beginning of the requests changes rarely; the last turn stays
// whatever its length. It is safe for concurrent use.
type Conversations struct {
	mu       sync.Mutex
	messages map[core.SessionKey]*conversation
	order    []core.SessionKey
}

// TurnHistory is a history that keeps what the agent did in a turn, not only what was said. The
// adapter passes it whole turns. The next request then begins with the last one of the turn
// before, which a prompt cache may serve.
type TurnHistory interface {
	schema.ChatMessageHistory

	// AddTurn adds the messages of an answered turn, all or none, in their order:
	//
	//   - an llms.HumanChatMessage with the question
	//   - for each response that called tools, an llms.AIChatMessage with its calls and an
	//     llms.ToolChatMessage for each result
	//   - an llms.AIChatMessage with the answer
	//
	// Messages must return them unchanged. As of langchaingo v0.1.14, the JSON of llms.ToolCall
	// cannot be read back, so store the name and the arguments of calls in a form of your own.
	// Results of loads are receipts, without the texts of the skills.
	AddTurn(ctx context.Context, messages []llms.ChatMessage) error
}

// NewConversations returns an empty set of conversations.
func NewConversations() *Conversations {
	return &Conversations{messages: map[core.SessionKey]*conversation{}}
}

// History returns the conversation of the session and agent in ctx. It returns nil if ctx
// names no session: a Call without one has no earlier turns.
func (c *Conversations) History(ctx context.Context) (schema.ChatMessageHistory, error) {
	key, ok := satchel.KeyFrom(ctx)
	if _, named := satchel.SessionID(ctx); !ok || !named {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if h := c.messages[key]; h != nil {
		return h, nil
	}
	if len(c.order) >= maxConversations {
		delete(c.messages, c.order[0])
		c.order = c.order[1:]
	}
	h := &conversation{}
	c.messages[key] = h
	c.order = append(c.order, key)
	return h, nil
}

// Forget drops the conversations of a session.
func (c *Conversations) Forget(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ended := func(key core.SessionKey) bool { return key.Session == session }
	c.order = slices.DeleteFunc(c.order, ended)
	maps.DeleteFunc(c.messages, func(key core.SessionKey, _ *conversation) bool { return ended(key) })
}

// conversation is a history that may be shared and does not grow for ever.
type conversation struct {
	mu       sync.Mutex
	messages []llms.ChatMessage
}

func (h *conversation) AddMessage(ctx context.Context, m llms.ChatMessage) error {
	return h.AddTurn(ctx, []llms.ChatMessage{m})
}

// AddTurn keeps the messages together: Calls of one session may end at one time.
func (h *conversation) AddTurn(_ context.Context, messages []llms.ChatMessage) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages = append(h.messages, messages...)
	h.trim()
	return nil
}

// trim cuts at a user message, so that no answer is left without its question, nor a
// result without its call.
func (h *conversation) trim() {
	all := h.messages
	if len(all) <= maxTurnMessages {
		return
	}
	isQuestion := func(m llms.ChatMessage) bool { return m.GetType() == llms.ChatMessageTypeHuman }
	from := len(all) / 2
	if next := slices.IndexFunc(all[from:], isQuestion); next >= 0 {
		from += next
	} else {
		for from > 0 && !isQuestion(all[from]) {
			from--
		}
	}
	h.messages = slices.Clone(all[from:])
}

func (h *conversation) AddUserMessage(ctx context.Context, text string) error {
	return h.AddMessage(ctx, llms.HumanChatMessage{Content: text})
}

func (h *conversation) AddAIMessage(ctx context.Context, text string) error {
	return h.AddMessage(ctx, llms.AIChatMessage{Content: text})
}

func (h *conversation) Clear(ctx context.Context) error { return h.SetMessages(ctx, nil) }

func (h *conversation) Messages(context.Context) ([]llms.ChatMessage, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.messages), nil
}

func (h *conversation) SetMessages(_ context.Context, all []llms.ChatMessage) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages = slices.Clone(all)
	return nil
}

// earlier reads the history of a Call that begins.
func (a *Adapter) earlier(ctx context.Context) ([]llms.MessageContent, error) {
	h, err := a.openHistory(ctx)
	if h == nil || err != nil {
		return nil, err
	}
	all, err := h.Messages(ctx)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	out := make([]llms.MessageContent, 0, len(all))
	if _, whole := h.(TurnHistory); whole {
		return appendTurns(out, all), nil
	}
	for _, m := range all {
		out = append(out, contentOf(m))
	}
	return repaired(out), nil
}

// appendTurns appends whole turns as they were sent. Each result has the name of its call
// again, which an llms.ToolChatMessage does not keep. Arguments that are no JSON stay as the
// model wrote them.
func appendTurns(out []llms.MessageContent, all []llms.ChatMessage) []llms.MessageContent {
	var calls []llms.ToolCall // of the last response
	for _, m := range all {
		switch p := m.(type) {
		case llms.AIChatMessage:
			calls = p.ToolCalls
			out = append(out, verbatim(&llms.ContentChoice{Content: p.Content, ToolCalls: calls}))
			continue
		case llms.ToolChatMessage:
			result := llms.ToolCallResponse{ToolCallID: p.ID, Content: p.Content}
			if i := indexOf(calls, p.ID); i >= 0 && calls[i].FunctionCall != nil {
				result.Name = calls[i].FunctionCall.Name
			}
			out = append(out, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{result}})
			continue
		}
		out = append(out, contentOf(m))
	}
	return out
}

func (a *Adapter) openHistory(ctx context.Context) (schema.ChatMessageHistory, error) {
	if a.config.history == nil {
		return nil, nil
	}
	h, err := a.config.history(ctx)
	if err != nil {
		return nil, fmt.Errorf("open history: %w", err)
	}
	return h, nil
}

func contentOf(m llms.ChatMessage) llms.MessageContent {
	switch p := m.(type) {
	case llms.AIChatMessage:
		return assistant(&llms.ContentChoice{Content: p.Content, ToolCalls: p.ToolCalls})
	case llms.ToolChatMessage:
		return llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
			llms.ToolCallResponse{ToolCallID: p.ID, Content: p.Content},
		}}
	}
	return llms.TextParts(m.GetType(), m.GetContent())
}

// remember adds the turn that ends.
func (a *Adapter) remember(ctx context.Context, r *run, answer string) error {
	h, err := a.openHistory(ctx)
	if h == nil || err != nil {
		return err
	}
	a.runs.mu.Lock()
	question := r.question
	a.runs.mu.Unlock()
	if turns, ok := h.(TurnHistory); ok {
		err = turns.AddTurn(ctx, a.turn(r, question, answer))
	} else if err = h.AddUserMessage(ctx, question); err == nil {
		err = h.AddAIMessage(ctx, answer)
	}
	if err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	return nil
}

// turn is what a [TurnHistory] keeps of a turn. Where the steps of the executor are not
// those of the responses, these are the question and the answer.
func (a *Adapter) turn(r *run, question, answer string) []llms.ChatMessage {
	if r.text != nil {
		return a.runs.textTurn(r, question, answer)
	}
	messages := []llms.ChatMessage{llms.HumanChatMessage{Content: question}}
	happened, _ := a.runs.account(r)
	for i := range happened {
		if happened[i].Role == llms.ChatMessageTypeAI {
			said := llms.AIChatMessage{Content: joinedText(happened[i].Parts)}
			for _, part := range happened[i].Parts {
				if call, ok := part.(llms.ToolCall); ok {
					said.ToolCalls = append(said.ToolCalls, call)
				}
			}
			messages = append(messages, said)
			continue
		}
		for _, part := range happened[i].Parts {
			if result, ok := part.(llms.ToolCallResponse); ok {
				messages = append(messages, llms.ToolChatMessage{ID: result.ToolCallID, Content: result.Content})
			}
		}
	}
	return append(messages, llms.AIChatMessage{Content: answer})
}

// question is the text of the last message of the user.
func question(msgs []llms.MessageContent) string {
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role == llms.ChatMessageTypeHuman {
			return joinedText(msgs[i].Parts)
		}
	}
	return ""
}
