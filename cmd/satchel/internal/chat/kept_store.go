package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// messageAgent is the agent under which a session store keeps the messages of a chat:
// in the same session as its loads, so that both go together. Each turn is a pinned
// text, and the value of the agent is a JSON array of their digests in order.
const messageAgent = "satchel:messages"

// openStoredHistory reads the messages of a conversation in a store. A new conversation has none.
func openStoredHistory(ctx context.Context, store session.Store, id string) (*history, error) {
	k := &history{store: store, key: core.SessionKey{Session: id, Agent: messageAgent}}
	var err error
	if k.value, err = store.Load(ctx, k.key); err != nil {
		return nil, err
	}
	if k.value.Version > 0 {
		if err := json.Unmarshal(k.value.Data, &k.turns); err != nil {
			return nil, fmt.Errorf("read conversation %q: %w: %w", id, session.ErrDamaged, err)
		}
	}
	for i, digest := range k.turns {
		text, err := store.Pinned(ctx, id, digest)
		if err != nil {
			return nil, fmt.Errorf("read turn %d of conversation %q: %w", i+1, id, err)
		}
		var turn []savedMessage
		if err := json.Unmarshal([]byte(text), &turn); err != nil {
			return nil, fmt.Errorf("read turn %d of conversation %q: %w", i+1, id, err)
		}
		k.messages = append(k.messages, turn...)
	}
	return k, nil
}

// addToStore saves a turn in the store. It fails if another process has changed the conversation.
func (k *history) addToStore(ctx context.Context, turn []savedMessage) error {
	data, err := json.Marshal(turn)
	if err != nil {
		return err
	}
	digest := session.Digest(string(data))
	if err := k.store.Pin(ctx, k.key.Session, digest, string(data)); err != nil {
		return err
	}
	turns := append(slices.Clip(k.turns), digest)
	list, err := json.Marshal(turns)
	if err != nil {
		return err
	}
	saved, err := k.store.Save(ctx, k.key, session.Value{Version: k.value.Version, Data: list, Pins: turns})
	if errors.Is(err, session.ErrConflict) {
		return fmt.Errorf("another process has gone on with this conversation: start again with --resume: %w", err)
	}
	if err != nil {
		return err
	}
	k.value, k.turns = saved, turns
	return nil
}
