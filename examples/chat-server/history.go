package main

import (
	"context"
	"encoding/json"

	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// history are the messages of a conversation. They are kept in its session, beside
// what its agent has loaded: as the record of an agent of their own, which pins the
// messages of each turn. So they end with the session, and each turn may be another
// server's.
type history struct {
	store    session.Store
	record   *state.Record
	messages []*schema.Message
}

// load reads the messages of a conversation, none if it has not begun.
func load(ctx context.Context, store session.Store, chat string) (*history, error) {
	record, err := store.Load(ctx, core.SessionKey{Session: chat, Agent: "chat-server:messages"})
	if err != nil {
		return nil, err
	}
	h := &history{store: store, record: record}
	for _, turn := range record.Deliveries {
		text, err := store.Pinned(ctx, chat, turn.Digest)
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
	if err := h.store.Pin(ctx, h.record.Key.Session, digest, string(text)); err != nil {
		return err
	}
	next := h.record.Clone()
	next.Deliveries = append(next.Deliveries, state.Delivery{Turn: len(next.Deliveries) + 1, Digest: digest})
	_, err = h.store.Save(ctx, next)
	return err
}
