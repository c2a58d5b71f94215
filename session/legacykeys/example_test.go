package legacykeys_test

import (
	"fmt"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session/legacykeys"
)

func ExampleImport() {
	state := map[string]string{
		legacykeys.LoadedKey("main", "pdf"): "1",
		legacykeys.DocsKey("main", "pdf"):   `["forms.md"]`,
		"temp:skill:loaded:docx":            "1",
	}
	rec, err := legacykeys.Import(core.SessionKey{Session: "chat-1", Agent: "main"}, state)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range rec.Active {
		fmt.Println(a.Skill, a.Docs)
	}
	// Output:
	// docx []
	// pdf [forms.md]
}

func ExampleExport() {
	keys := legacykeys.Export(&state.Record{
		Key:    core.SessionKey{Agent: "main"},
		Active: []state.Active{{Skill: "pdf", Docs: []string{"forms.md"}}},
	})
	fmt.Println(keys[legacykeys.LoadedKey("main", "pdf")], keys[legacykeys.DocsKey("main", "pdf")], keys[legacykeys.OrderKey("main")])
	// Output: 1 ["forms.md"] ["pdf"]
}
