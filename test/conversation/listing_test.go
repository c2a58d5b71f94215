package conversation_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/session"
)

// pinnedBytes counts the bytes that are pinned in a store.
type pinnedBytes struct {
	session.Store
	bytes int
}

func (s *pinnedBytes) Pin(ctx context.Context, id, digest, text string) error {
	s.bytes += len(text)
	return s.Store.Pin(ctx, id, digest, text)
}

// What change notes are made from is pinned once for all sessions, whatever the size
// of the catalog. The notes are right after a restart too.
func TestListingsAreShared(t *testing.T) {
	t.Parallel()
	const skills = 2000
	w, dir := chattest.NewWorld(skills), t.TempDir()
	start := func() (*satchel.Runtime, *pinnedBytes) {
		directory, err := session.OpenDirectory(dir, session.WithSync(false))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = directory.Close() })
		store := &pinnedBytes{Store: directory}
		return chattest.Open(t, w.Files, satchel.WithStore(store)), store
	}
	runtime, store := start()
	begin := func(i int) *chattest.Chat {
		c := chattest.NewChat(t, runtime).Say(core.User, "hi")
		c.Key.Session = fmt.Sprint("chat-", i)
		c.View()
		return c
	}
	first := begin(0)
	if store.bytes < skills*20 {
		t.Fatalf("the first session pins %d bytes: where is the listing?", store.bytes)
	}
	store.bytes = 0
	chats := []*chattest.Chat{first}
	for i := range 10 {
		chats = append(chats, begin(i+1))
	}
	if each := store.bytes / 10; each > 4*5000 { // an overview has at most 4,000 tokens
		t.Errorf("each further session pins %d bytes", each)
	}

	runtime, store = start()
	begin(100)
	if store.bytes > 4*5000 {
		t.Errorf("the first session after a restart pins %d bytes", store.bytes)
	}
	w.Add("zz-new")
	w.Remove("s7")
	if err := runtime.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range chats[:3] {
		c.Runtime = runtime
		c.Answer("done")
		c.Say(core.User, "next")
		view := c.View()
		note := view[len(view)-1].Text
		if !strings.Contains(note, "<skills_changed>\nnew:\n<skill><name>zz-new</name>") || !strings.Contains(note, "removed: s7\n") || strings.Contains(note, "s8") {
			t.Errorf("%s is told %q", c.Key.Session, note)
		}
	}
}
