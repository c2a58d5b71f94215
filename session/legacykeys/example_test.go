package legacykeys_test

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/session/legacykeys"
)

// The keys of another framework move into a store, and out of it again.
func ExampleImport() {
	ctx, store := context.Background(), session.NewMemory()
	key := core.SessionKey{Session: "chat-1", Agent: "main"}
	err := legacykeys.Import(ctx, store, key, map[string]string{
		legacykeys.LoadedKey("main", "pdf"): "1",
		legacykeys.DocsKey("main", "pdf"):   `["forms.md"]`,
		"temp:skill:loaded:docx":            "1",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	keys, err := legacykeys.Export(ctx, store, key)
	fmt.Println(keys[legacykeys.LoadedKey("main", "docx")], keys[legacykeys.DocsKey("main", "pdf")], keys[legacykeys.OrderKey("main")], err)
	// Output: 1 ["forms.md"] ["docx","pdf"] <nil>
}
