package main

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// history holds the messages of a conversation. They are stored in its session, beside the state of
// its agent. Each turn is a pinned text, and the value of a separate agent lists their digests. So
// they end with the session, and another server may continue it at any turn.
type history struct {
	store    session.Store
	key      core.SessionKey
	value    session.Value
	turns    []string
	messages []*schema.Message
}

// load reads the messages of a conversation, none if it has not begun.
func load(ctx context.Context, store session.Store, chat string) (*history, error) {
	h := &history{store: store, key: core.SessionKey{Session: chat, Agent: "chat-server:messages"}}
	var err error
	if h.value, err = store.Load(ctx, h.key); err != nil {
		return nil, err
	}
	if h.value.Version > 0 {
		if err := json.Unmarshal(h.value.Data, &h.turns); err != nil {
			return nil, err
		}
	}
	for _, digest := range h.turns {
		text, err := store.Pinned(ctx, chat, digest)
		if err != nil {
			return nil, err
		}
		var messages []*schema.Message
		if err := json.Unmarshal([]byte(text), &messages); err != nil {
			return nil, err
		}
		h.messages = append(h.messages, messages...)
	}
	return h, nil
}

// add keeps the messages of a turn. If another server has answered meanwhile, the
// error wraps session.ErrConflict, and nothing is kept.
func (h *history) add(ctx context.Context, turn []*schema.Message) error {
	text, err := json.Marshal(turn)
	if err != nil {
		return err
	}
	digest := session.Digest(string(text))
	if err := h.store.Pin(ctx, h.key.Session, digest, string(text)); err != nil {
		return err
	}
	turns := append(slices.Clip(h.turns), digest)
	list, err := json.Marshal(turns)
	if err != nil {
		return err
	}
	_, err = h.store.Save(ctx, h.key, session.Value{Version: h.value.Version, Data: list, Pins: turns})
	return err
}
