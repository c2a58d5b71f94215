package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

func ExampleNewMemory() {
	ctx := context.Background()
	store := session.NewMemory(session.WithMaxSessions(1000))

	rec, err := store.Load(ctx, core.SessionKey{Session: "chat-1", Agent: "main"})
	if err != nil {
		fmt.Println(err)
		return
	}
	next := rec.Clone()
	next.Activate("pdf", session.Digest("# PDF"))
	if _, err := store.Save(ctx, next); err != nil {
		fmt.Println(err)
		return
	}
	_, err = store.Save(ctx, next)
	fmt.Println(err)
	// Output: save record of agent "main" from version 0 over version 1: session record was changed meanwhile
}

func ExampleNewQueues() {
	queues := session.NewQueues()
	leave := queues.Queue(context.Background(), core.SessionKey{Session: "chat-1", Agent: "main"})
	fmt.Println("it is the turn of this update")
	leave()
	// Output: it is the turn of this update
}

func ExampleNewDirectory() {
	ctx := context.Background()
	path, err := os.MkdirTemp("", "satchel")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(path)

	store, err := session.NewDirectory(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	body := "# PDF\nUse pdftotext.\n"
	if err := store.Pin(ctx, "chat-1", session.Digest(body), body); err != nil {
		fmt.Println(err)
		return
	}
	text, err := store.Pinned(ctx, "chat-1", session.Digest(body))
	fmt.Printf("%q %v\n", text, err)
	fmt.Println(store.End(ctx, "chat-1"))
	// Output:
	// "# PDF\nUse pdftotext.\n" <nil>
	// <nil>
}

func ExampleUpdate() {
	ctx := context.Background()
	store := session.NewMemory()
	key := core.SessionKey{Session: "chat-1", Agent: "main"}

	rec, err := session.Update(ctx, store, key, func(r *state.Record) (*state.Record, error) {
		next := r.Clone()
		next.Activate("pdf", session.Digest("# PDF"))
		return next, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rec.Version, rec.Active[0].Skill)
	// Output: 1 pdf
}

func ExampleBury() {
	ctx := context.Background()
	store := session.NewMemory()
	key := core.SessionKey{Session: "chat-1", Agent: "main"}
	if _, err := store.Save(ctx, &state.Record{Key: key, Calls: 4}); err != nil {
		fmt.Println(err)
		return
	}
	if err := errors.Join(session.Bury(ctx, store, "chat-1"), store.End(ctx, "chat-1")); err != nil {
		fmt.Println(err)
		return
	}
	calls, err := session.Buried(ctx, store, key)
	fmt.Println(calls, err)
	// Output: 4 <nil>
}

func ExampleParseReceipt() {
	receipt, ok := state.ParseReceipt("loaded: pdf\n[skill#4 +pdf@3f9a1c2b4d5e(forms.md)]")
	fmt.Println(ok, receipt.Call, receipt.Changes[0].Skill, receipt.Changes[0].Docs)
	// Output: true 4 pdf [forms.md]
}

func ExampleDecode() {
	data, err := state.Encode(&state.Record{Key: core.SessionKey{Session: "chat-1", Agent: "main"}, Turn: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	rec, err := state.Decode(data)
	fmt.Println(rec.Key.Session, rec.Turn, err)
	_, err = state.Decode(data[:len(data)-1])
	fmt.Println(err != nil)
	// Output:
	// chat-1 3 <nil>
	// true
}

func ExampleNewClosed() {
	key := core.SessionKey{Session: "chat-1", Agent: "main"}
	closed := session.NewClosed(key, 4)
	fmt.Println(closed.Agent == session.ClosedName(key), closed.Calls)
	// Output: true 4
}

// UpdateFrom saves a change of a record that was just read. It reads it again only where
// somebody else was faster.
func ExampleUpdateFrom() {
	ctx, store := context.Background(), session.NewMemory()
	rec, err := store.Load(ctx, core.SessionKey{Session: "chat-1", Agent: "main"})
	if err != nil {
		fmt.Println(err)
		return
	}
	saved, err := session.UpdateFrom(ctx, store, rec, func(rec *state.Record) (*state.Record, error) {
		next := rec.Clone()
		next.Activate("pdf", session.Digest("# PDF"))
		return next, nil
	})
	fmt.Println(saved.Version, saved.Active[0].Skill, err)
	// Output: 1 pdf <nil>
}
