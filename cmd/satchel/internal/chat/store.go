package chat

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/session"
)

// storeFlags are the flags about conversations that outlive a chat.
type storeFlags struct {
	Store  string `placeholder:"DIR" help:"Keep the conversation in DIR: its messages, what its agent has loaded and, without --artifacts, its saved outputs. Or on a server, redis://…, unix:///path of one, or postgres://…, without the outputs; a cluster is found by any of its servers. --resume goes on with it."`
	Resume string `placeholder:"ID" help:"Go on with this conversation of --store, or begin it there."`
}

// place stores a conversation: in memory without --store.
type place struct {
	id      string
	history *history
	store   session.Store
	open    io.Closer // the store, or its connections
	// isResumed reports that the conversation has messages of earlier chats.
	isResumed bool
}

// open opens what the flags name. The caller closes it.
func (f *storeFlags) open(ctx context.Context) (_ *place, err error) {
	p := &place{id: f.Resume}
	switch {
	case f.Store == "" && f.Resume != "":
		return nil, fmt.Errorf("%w: --resume needs --store DIR, where the conversation is kept", cli.ErrUsage)
	case f.Store == "":
		p.id, p.history = "chat-"+rand.Text(), &history{}
		return p, nil
	case f.Resume == "":
		p.id = "chat-" + rand.Text()
	case !conversationID.MatchString(f.Resume):
		return nil, fmt.Errorf("%w: --resume %q: use letters, digits, '-', '_' and '.', at most 100", cli.ErrUsage, f.Resume)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%w: --store: %w", cli.ErrStart, err), p.close())
		}
	}()
	if places.Scheme(f.Store) != "" {
		if p.store, p.open, err = places.OpenEngine(ctx, f.Store); err != nil {
			return nil, err
		}
		if p.history, err = openStoredHistory(ctx, p.store, p.id); err != nil {
			return nil, err
		}
		p.isResumed = len(p.history.messages) > 0
		return p, nil
	}
	messages := filepath.Join(f.Store, "messages")
	if err := os.MkdirAll(messages, 0o700); err != nil {
		return nil, err
	}
	if p.history, err = openHistory(messages, p.id); err != nil {
		return nil, err
	}
	p.isResumed = len(p.history.messages) > 0
	p.store, p.open, err = places.OpenStore(ctx, f.Store)
	return p, err
}

// options returns the options of the runtime.
func (p *place) options() []satchel.Option {
	if p.store == nil {
		return nil
	}
	return []satchel.Option{satchel.WithStore(p.store)}
}

// lasts reports whether the conversation outlives this chat.
func (p *place) lasts() bool { return p != nil && p.store != nil }

func (p *place) close() error {
	err := p.history.close()
	if p.open != nil {
		err = errors.Join(err, p.open.Close())
	}
	return err
}

// tell shows how to resume a new conversation.
func (p *place) tell(show *reporter) {
	if p.lasts() && !p.isResumed {
		show.Begun(p.id)
	}
}

// Begun shows the id of a new conversation.
func (r *reporter) Begun(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line(event{Event: "conversation", ID: &id})
	r.print(r.err, "satchel: a new conversation; --resume "+id+" goes on with it\n")
}
