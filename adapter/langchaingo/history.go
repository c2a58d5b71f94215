package langchaingo

import (
	"context"
	"fmt"
	"sync"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/memory"
	"github.com/tmc/langchaingo/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// Conversations keeps the earlier turns of named sessions in memory, for
// [WithHistory]:
//
//	langchaingo.WithHistory(langchaingo.NewConversations().History)
//
// It keeps at most 200 messages per session and agent, and 1,000 sessions.
// When a conversation is full its older half goes at once, so that the
// beginning of the requests changes rarely. It is safe for concurrent use.
type Conversations struct {
	mu       sync.Mutex
	messages map[core.SessionKey]*conversation
	order    []core.SessionKey
}

const (
	maxConversations = 1000
	maxTurnMessages  = 200
)

// NewConversations returns an empty set of conversations.
func NewConversations() *Conversations {
	return &Conversations{messages: map[core.SessionKey]*conversation{}}
}

// History returns the conversation of the session and agent that ctx is marked
// with, and nil where ctx names no session: a Call without one has no earlier
// turns.
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
	h := &conversation{inner: memory.NewChatMessageHistory()}
	c.messages[key] = h
	c.order = append(c.order, key)
	return h, nil
}

// Forget drops the conversations of a session.
func (c *Conversations) Forget(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.order[:0]
	for _, key := range c.order {
		if key.Session == session {
			delete(c.messages, key)
			continue
		}
		kept = append(kept, key)
	}
	c.order = kept
}

// conversation is a history that may be shared and does not grow for ever.
type conversation struct {
	mu    sync.Mutex
	inner *memory.ChatMessageHistory
}

func (h *conversation) AddMessage(ctx context.Context, m llms.ChatMessage) error {
	return h.add(ctx, m)
}

// add keeps its messages together: Calls of one session may end at one time.
func (h *conversation) add(ctx context.Context, messages ...llms.ChatMessage) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range messages {
		if err := h.inner.AddMessage(ctx, m); err != nil {
			return err
		}
	}
	return h.trim(ctx)
}

// trim cuts at a user message, so that no answer is left without its question.
func (h *conversation) trim(ctx context.Context) error {
	all, err := h.inner.Messages(ctx)
	if err != nil || len(all) <= maxTurnMessages {
		return err
	}
	from := len(all) / 2
	for from < len(all) && all[from].GetType() != llms.ChatMessageTypeHuman {
		from++
	}
	return h.inner.SetMessages(ctx, append([]llms.ChatMessage(nil), all[from:]...))
}

func (h *conversation) AddUserMessage(ctx context.Context, text string) error {
	return h.AddMessage(ctx, llms.HumanChatMessage{Content: text})
}

func (h *conversation) AddAIMessage(ctx context.Context, text string) error {
	return h.AddMessage(ctx, llms.AIChatMessage{Content: text})
}

func (h *conversation) Clear(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.inner.Clear(ctx)
}

func (h *conversation) Messages(ctx context.Context) ([]llms.ChatMessage, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all, err := h.inner.Messages(ctx)
	return append([]llms.ChatMessage(nil), all...), err
}

func (h *conversation) SetMessages(ctx context.Context, all []llms.ChatMessage) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.inner.SetMessages(ctx, append([]llms.ChatMessage(nil), all...))
}

// earlier reads the history of a Call that begins.
func (k *Kit) earlier(ctx context.Context) ([]llms.MessageContent, error) {
	h, err := k.openHistory(ctx)
	if h == nil || err != nil {
		return nil, err
	}
	all, err := h.Messages(ctx)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	out := make([]llms.MessageContent, 0, len(all))
	for _, m := range all {
		out = append(out, contentOf(m))
	}
	return repaired(out), nil
}

func (k *Kit) openHistory(ctx context.Context) (schema.ChatMessageHistory, error) {
	if k.config.history == nil {
		return nil, nil
	}
	h, err := k.config.history(ctx)
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
func (k *Kit) remember(ctx context.Context, r *run, answer string) error {
	h, err := k.openHistory(ctx)
	if h == nil || err != nil {
		return err
	}
	k.runs.mu.Lock()
	question := r.question
	k.runs.mu.Unlock()
	if c, ok := h.(*conversation); ok {
		err = c.add(ctx, llms.HumanChatMessage{Content: question}, llms.AIChatMessage{Content: answer})
	} else if err = h.AddUserMessage(ctx, question); err == nil {
		err = h.AddAIMessage(ctx, answer)
	}
	if err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	return nil
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
