package session_test

import (
	"context"
	"fmt"
	"os"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

func ExampleNewMemory() {
	ctx, store := context.Background(), session.NewMemory()
	key := core.SessionKey{Session: "chat-1", Agent: "main"}

	v, err := store.Load(ctx, key)
	if err != nil {
		fmt.Println(err)
		return
	}
	v.Data = []byte("what the agent has loaded")
	if _, err := store.Save(ctx, key, v); err != nil {
		fmt.Println(err)
		return
	}
	_, err = store.Save(ctx, key, v)
	fmt.Println(err)
	// Output: save value of agent "main" from version 0 over version 1: session value was changed meanwhile
}

func ExampleOpenDirectory() {
	ctx := context.Background()
	path, err := os.MkdirTemp("", "satchel")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(path)

	store, err := session.OpenDirectory(path)
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
