package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// Sessions of the runtime's own cannot be named from outside, at no door.
func TestReservedSessions(t *testing.T) {
	rt, err := satchel.New(satchel.WithSkillFS("skills", fstest.MapFS{
		"pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: Reads PDF files.\n---\nBODY\n")},
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	own := rt.Hooks().Anonymous("a")
	load := core.ToolCall{Name: "skill_load", Arguments: `{"skill":"pdf"}`}
	if text, err := rt.CallTool(t.Context(), own, load); err != nil || text == "" {
		t.Fatalf("in an anonymous session: %q, %v", text, err)
	}
	for _, id := range []string{own.Session, "satchel:closed", "satchel:", "\x00"} {
		key, ctx := core.SessionKey{Session: id, Agent: "a"}, satchel.WithSession(t.Context(), id)
		for door, open := range map[string]func() error{
			"Prepare":    func() error { _, err := rt.Agent(key).Prepare(ctx, core.Request{}); return err },
			"Open":       func() error { _, err := rt.Agent(key).Open(ctx, load); return err },
			"CallTool":   func() error { _, err := rt.CallTool(ctx, key, load); return err },
			"Observe":    func() error { return rt.Hooks().Observe(ctx, key, []core.ToolCall{load}) },
			"Loaded":     func() error { _, err := rt.Loaded(ctx); return err },
			"Clear":      func() error { return rt.Clear(ctx) },
			"EndSession": func() error { return rt.EndSession(ctx, id) },
			// EndAnonymous would remove the list of sessions that have ended.
			"EndAnonymous": func() error { return rt.Hooks().EndAnonymous(ctx, key) },
		} {
			if err := open(); err == nil || !strings.Contains(err.Error(), "the session id is reserved") {
				t.Errorf("%s of session %q: %v", door, id, err)
			}
		}
	}
	if err := rt.Hooks().EndAnonymous(t.Context(), own); err != nil {
		t.Error(err)
	}
}

// fullStore can save nothing, like a full disk.
type fullStore struct {
	session.Store
	full bool
}

var errFull = errors.New("no space left on device")

func (s *fullStore) Save(ctx context.Context, key core.SessionKey, v session.Value) (session.Value, error) {
	if s.full {
		return session.Value{}, errFull
	}
	return s.Store.Save(ctx, key, v)
}

// saysOnce reports whether an error says once that the end of a session was not noted.
func saysOnce(err error, id string) bool {
	return strings.Count(err.Error(), fmt.Sprintf("mark session %q as ended: ", id)) == 1
}

// So it is with sessions in a directory, which write their notes first.
func TestEndSessionInAFullDirectory(t *testing.T) {
	dir := t.TempDir()
	store, err := session.OpenDirectory(dir, session.WithSync(false))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	rt, err := satchel.New(satchel.WithStore(store), satchel.WithSkillFS("skills", fstest.MapFS{
		"pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: Reads PDF files.\n---\nBODY\n")},
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	ctx := satchel.WithSession(t.Context(), "s")
	if _, err := rt.CallTool(ctx, core.SessionKey{Session: "s"}, core.ToolCall{Name: "skill_load", Arguments: `{"skill":"pdf"}`}); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(dir, "closed")
	if err := os.RemoveAll(closed); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(closed, nil, 0o600); err != nil { // a file in place of the directory makes writes fail
		t.Fatal(err)
	}
	if err := rt.EndSession(ctx, "s"); err == nil || !saysOnce(err, "s") {
		t.Errorf("the error is %v", err)
	}
	if loaded, err := rt.Loaded(ctx); err != nil || len(loaded) != 1 {
		t.Errorf("after an end that failed %v is loaded, %v", loaded, err)
	}
}

// A session whose end cannot be noted has not ended: ending it again, when there is
// room, notes it, and its old messages bring nothing back.
func TestEndSessionOnAFullDisk(t *testing.T) {
	store := &fullStore{Store: session.NewMemory()}
	rt, err := satchel.New(satchel.WithStore(store), satchel.WithSkillFS("skills", fstest.MapFS{
		"pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: Reads PDF files.\n---\nBODY\n")},
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	key, ctx := core.SessionKey{Session: "s"}, satchel.WithSession(t.Context(), "s")
	call := core.ToolCall{ID: "c", Name: "skill_load", Arguments: `{"skill":"pdf"}`}
	user := core.Message{Role: core.User, Text: "read it"}
	if _, err := rt.Agent(key).Prepare(ctx, core.Request{Messages: []core.Message{user}}); err != nil {
		t.Fatal(err)
	}
	if err := rt.Hooks().Observe(ctx, key, []core.ToolCall{call}); err != nil {
		t.Fatal(err)
	}
	answer, err := rt.CallTool(ctx, key, call)
	if err != nil {
		t.Fatal(err)
	}

	store.full = true
	if err := rt.EndSession(ctx, "s"); !errors.Is(err, errFull) || !saysOnce(err, "s") {
		t.Fatalf("on a full disk: %v", err)
	}
	if loaded, err := rt.Loaded(ctx); err != nil || len(loaded) != 1 {
		t.Errorf("after an end that failed %v is loaded, %v", loaded, err)
	}
	store.full = false
	if err := rt.EndSession(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	old := []core.Message{user, {Role: core.Assistant, Calls: []core.ToolCall{call}}, {Role: core.ToolResult, CallID: "c", Text: answer}}
	if _, err := rt.Agent(key).Prepare(ctx, core.Request{Messages: old}); err != nil {
		t.Fatal(err)
	}
	if loaded, err := rt.Loaded(ctx); err != nil || len(loaded) != 0 {
		t.Errorf("old messages bring back %v, %v", loaded, err)
	}
}
