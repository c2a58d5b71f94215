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

// Conversations stores the earlier turns of named sessions in memory, for [WithHistory]:
//
//	langchaingo.WithHistory(langchaingo.NewConversations().History)
//
// It stores whole turns, as a [TurnHistory] does: at most 1,000 messages per session and agent,
// and 1,000 sessions. When a conversation is full, its older half is removed at once, so that
// the beginning of the requests changes rarely. The last turn stays, however long it is. It is
// safe for concurrent use.
type Conversations struct {
	mu       sync.Mutex
	messages map[core.SessionKey]*conversation
	order    []core.SessionKey
}

// TurnHistory is a history that stores the calls and results of a turn besides its texts. The
// adapter passes it whole turns. The next request then begins with the last request of the turn
// before, so a prompt cache may serve that part.
type TurnHistory interface {
	schema.ChatMessageHistory

	// AddTurn stores the messages of a turn that has its answer, all or none, in their order:
	//
	//   - an llms.HumanChatMessage with the question
	//   - for each response that called tools, an llms.AIChatMessage with its calls and an
	//     llms.ToolChatMessage for each result
	//   - an llms.AIChatMessage with the answer
	//
	// Messages must return them unchanged. As of langchaingo v0.1.14, the JSON of llms.ToolCall
	// cannot be decoded, so a store must write the name and the arguments of calls itself.
	// Results of loads are receipts, without the texts of the skills.
	AddTurn(ctx context.Context, messages []llms.ChatMessage) error
}

// NewConversations returns an empty set of conversations.
func NewConversations() *Conversations {
	return &Conversations{messages: map[core.SessionKey]*conversation{}}
}

// History returns the conversation of the session and agent in ctx. It returns nil if ctx names
// no session, because an anonymous Call has no earlier turns.
func (c *Conversations) History(ctx context.Context) (schema.ChatMessageHistory, error) {
	key, ok := satchel.KeyFrom(ctx)
	if _, isNamed := satchel.SessionID(ctx); !ok || !isNamed {
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

// Forget removes the conversations of a session.
func (c *Conversations) Forget(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	isForgotten := func(key core.SessionKey) bool { return key.Session == session }
	c.order = slices.DeleteFunc(c.order, isForgotten)
	maps.DeleteFunc(c.messages, func(key core.SessionKey, _ *conversation) bool { return isForgotten(key) })
}

// conversation is a history with at most maxTurnMessages messages, safe for concurrent use.
type conversation struct {
	mu       sync.Mutex
	messages []llms.ChatMessage
}

func (h *conversation) AddMessage(ctx context.Context, m llms.ChatMessage) error {
	return h.AddTurn(ctx, []llms.ChatMessage{m})
}

// AddTurn adds the messages as one: Calls of the same session may end at the same time.
func (h *conversation) AddTurn(_ context.Context, messages []llms.ChatMessage) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages = append(h.messages, messages...)
	h.trim()
	return nil
}

// trim removes the older half if there are too many messages. It cuts at a user message, so
// that no answer loses its question and no result its call.
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

// readHistory returns the earlier turns for a Call that begins.
func (a *Adapter) readHistory(ctx context.Context) ([]llms.MessageContent, error) {
	if a.forkHistory != nil {
		return a.forkHistory, nil
	}
	h, err := a.openHistory(ctx)
	if h == nil || err != nil {
		return nil, err
	}
	all, err := h.Messages(ctx)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	out := make([]llms.MessageContent, 0, len(all))
	if _, keepsTurns := h.(TurnHistory); keepsTurns {
		return appendTurns(out, all), nil
	}
	for _, m := range all {
		out = append(out, contentOf(m))
	}
	return repairMessages(out), nil
}

// appendTurns appends whole turns as they were sent. It gives each result the name of its call,
// which an llms.ToolChatMessage does not contain. It keeps arguments that are no JSON.
func appendTurns(out []llms.MessageContent, all []llms.ChatMessage) []llms.MessageContent {
	var calls []llms.ToolCall // of the last response
	for _, m := range all {
		switch p := m.(type) {
		case llms.AIChatMessage:
			calls = p.ToolCalls
			out = append(out, verbatimMessage(&llms.ContentChoice{Content: p.Content, ToolCalls: calls}))
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

// contentOf converts a message of a history.
func contentOf(m llms.ChatMessage) llms.MessageContent {
	switch p := m.(type) {
	case llms.AIChatMessage:
		return assistantMessage(&llms.ContentChoice{Content: p.Content, ToolCalls: p.ToolCalls})
	case llms.ToolChatMessage:
		return llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
			llms.ToolCallResponse{ToolCallID: p.ID, Content: p.Content},
		}}
	}
	return llms.TextParts(m.GetType(), m.GetContent())
}

// saveTurn adds the turn that ends to the host's history.
func (a *Adapter) saveTurn(ctx context.Context, r *run, answer string) error {
	h, err := a.openHistory(ctx)
	if h == nil || err != nil {
		return err
	}
	a.runs.mu.Lock()
	question := r.question
	a.runs.mu.Unlock()
	if turns, ok := h.(TurnHistory); ok {
		err = turns.AddTurn(ctx, a.turnMessages(r, question, answer))
	} else if err = h.AddUserMessage(ctx, question); err == nil {
		err = h.AddAIMessage(ctx, answer)
	}
	if err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	return nil
}

// turnMessages returns the messages of a turn for a [TurnHistory]. If the steps of the executor
// do not match the responses, these are the question and the answer only.
func (a *Adapter) turnMessages(r *run, question, answer string) []llms.ChatMessage {
	if r.text != nil {
		return a.runs.textTurn(r, question, answer)
	}
	messages := []llms.ChatMessage{llms.HumanChatMessage{Content: question}}
	transcript, _ := a.runs.transcript(r)
	for i := range transcript {
		if transcript[i].Role == llms.ChatMessageTypeAI {
			message := llms.AIChatMessage{Content: joinText(transcript[i].Parts)}
			for _, part := range transcript[i].Parts {
				if call, ok := part.(llms.ToolCall); ok {
					message.ToolCalls = append(message.ToolCalls, call)
				}
			}
			messages = append(messages, message)
			continue
		}
		for _, part := range transcript[i].Parts {
			if result, ok := part.(llms.ToolCallResponse); ok {
				messages = append(messages, llms.ToolChatMessage{ID: result.ToolCallID, Content: result.Content})
			}
		}
	}
	return append(messages, llms.AIChatMessage{Content: answer})
}

// lastQuestion returns the text of the user's last message.
func lastQuestion(msgs []llms.MessageContent) string {
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role == llms.ChatMessageTypeHuman {
			return joinText(msgs[i].Parts)
		}
	}
	return ""
}
