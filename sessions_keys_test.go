package satchel_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// The keys of another framework move into the store of a runtime, and out of it again.
func ExampleRuntime_ImportKeys() {
	runtime, err := satchel.New(satchel.WithSkillFS("builtin", exampleSkills), satchel.WithStore(session.NewMemory()))
	if err != nil {
		log.Fatal(err)
	}
	defer runtime.Close()
	ctx := context.Background()
	key := core.SessionKey{Session: "chat-1", Agent: "main"}
	err = runtime.ImportKeys(ctx, key, map[string]string{
		"temp:skill:loaded_by_agent:main/pdf": "1",
		"temp:skill:docs_by_agent:main/pdf":   `["forms.md"]`,
		"temp:skill:loaded:xlsx":              "1",
	})
	if err != nil {
		log.Fatal(err)
	}
	keys, err := runtime.ExportKeys(ctx, key)
	fmt.Println(keys["temp:skill:loaded_by_agent:main/xlsx"], keys["temp:skill:docs_by_agent:main/pdf"], keys["temp:skill:loaded_order_by_agent:main"], err)
	// Output: 1 ["forms.md"] ["pdf","xlsx"] <nil>
}

// What is imported into a store is exported from it again, and nothing is overwritten.
func TestStateKeys(t *testing.T) {
	runtime, err := satchel.New(satchel.WithSkillFS("builtin", exampleSkills))
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.Close()
	key := core.SessionKey{Session: "s", Agent: "main"}
	keys := map[string]string{
		"temp:skill:loaded_by_agent:main/pdf": "1", "temp:skill:docs_by_agent:main/pdf": "*", "temp:skill:loaded_order_by_agent:main": `["pdf"]`,
	}
	for _, none := range []map[string]string{nil, {"temp:skill:loaded_by_agent:other/pdf": "1"}} {
		if err := runtime.ImportKeys(t.Context(), key, none); err != nil {
			t.Fatal(err)
		}
	}
	if err := runtime.ImportKeys(t.Context(), key, keys); err != nil {
		t.Fatal(err)
	}
	if got, err := runtime.ExportKeys(t.Context(), key); err != nil || !maps.Equal(got, keys) {
		t.Errorf("got %q, %v", got, err)
	}
	if err := runtime.ImportKeys(t.Context(), key, keys); !errors.Is(err, session.ErrConflict) {
		t.Errorf("imported again: %v", err)
	}
	if got, err := runtime.ExportKeys(t.Context(), core.SessionKey{Session: "s", Agent: "new"}); err != nil || len(got) > 0 {
		t.Errorf("an agent that was never saved: %q, %v", got, err)
	}
}
