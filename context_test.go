package satchel_test

import (
	"context"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
)

func TestAnEmptyIDNamesNoSession(t *testing.T) {
	ctx := satchel.WithSession(t.Context(), "s")
	if id, ok := satchel.SessionID(ctx); id != "s" || !ok {
		t.Errorf("session %q, %v", id, ok)
	}
	for name, ctx := range map[string]context.Context{
		"none": t.Context(), "empty": satchel.WithSession(t.Context(), ""), "taken back": satchel.WithSession(ctx, ""),
	} {
		if id, ok := satchel.SessionID(ctx); id != "" || ok {
			t.Errorf("%s: session %q, %v", name, id, ok)
		}
	}
}

func TestNestedKey(t *testing.T) {
	key := func(session, agent string) core.SessionKey { return core.SessionKey{Session: session, Agent: agent} }
	for _, tt := range []struct {
		name       string
		running    []core.SessionKey
		begins, as core.SessionKey
	}{
		{"nothing runs", nil, key("s", "agent"), key("s", "agent")},
		{"another name", []core.SessionKey{key("s", "boss")}, key("s", "agent"), key("s", "agent")},
		{"another session", []core.SessionKey{key("r", "agent")}, key("s", "agent"), key("s", "agent")},
		{"the same name", []core.SessionKey{key("s", "agent")}, key("s", "agent"), key("s", "agent/agent")},
		{"further out", []core.SessionKey{key("s", "agent"), key("s", "other")}, key("s", "agent"), key("s", "agent/agent")},
		{"three deep", []core.SessionKey{key("s", "agent"), key("s", "agent/agent")}, key("s", "agent"), key("s", "agent/agent/agent")},
		{"marked twice", []core.SessionKey{key("s", "agent"), key("s", "agent")}, key("s", "agent"), key("s", "agent/agent")},
		{"no name", []core.SessionKey{key("s", "")}, key("s", ""), key("s", "/")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := t.Context()
			for _, k := range tt.running {
				ctx = adapter.WithKey(ctx, k)
			}
			if got := adapter.NestedKey(ctx, tt.begins); got != tt.as {
				t.Errorf("key %+v, want %+v", got, tt.as)
			}
			if got, ok := satchel.KeyFrom(ctx); len(tt.running) > 0 && (!ok || got != tt.running[len(tt.running)-1]) {
				t.Errorf("runs in %+v, %v", got, ok)
			}
		})
	}
}
