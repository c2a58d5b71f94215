package session_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

func TestSessions(t *testing.T) {
	for name, store := range map[string]session.Lister{
		"memory":    session.NewMemory(),
		"directory": openDirectory(t, t.TempDir()),
	} {
		t.Run(name, func(t *testing.T) {
			before := time.Now().Add(-time.Second)
			for _, key := range []core.SessionKey{{Session: "b", Agent: "y"}, {Session: "b", Agent: "x"}, {Session: "a/../ü", Agent: "x"}, {Session: "satchel:closed", Agent: "00"}, {Session: "over", Agent: "x"}} {
				if _, err := store.Save(t.Context(), key, session.Value{}); err != nil {
					t.Fatal(err)
				}
			}
			if err := store.Pin(t.Context(), "only pins", session.Digest("x"), "x"); err != nil {
				t.Fatal(err)
			}
			if err := store.End(t.Context(), "over"); err != nil {
				t.Fatal(err)
			}
			all, err := store.Sessions(t.Context())
			if err != nil || len(all) != 2 {
				t.Fatalf("Sessions = %+v, %v", all, err)
			}
			if all[0].ID != "a/../ü" || all[1].ID != "b" || !slices.Equal(all[1].Agents, []string{"x", "y"}) {
				t.Errorf("Sessions = %+v", all)
			}
			for _, s := range all {
				if s.Changed.Before(before) || s.Changed.After(time.Now().Add(time.Second)) {
					t.Errorf("session %q was changed at %v", s.ID, s.Changed)
				}
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := store.Sessions(ended); !errors.Is(err, context.Canceled) {
				t.Errorf("Sessions after its context = %v", err)
			}
		})
	}
}
