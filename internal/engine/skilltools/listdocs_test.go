package skilltools

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/internal/engine/state"
)

// fixed is a store that always returns the same record.
func fixed(rec *state.Record) func(context.Context) (*state.Record, error) {
	return func(context.Context) (*state.Record, error) { return rec, nil }
}

func TestListDocs(t *testing.T) {
	for _, tt := range []struct{ name, args, answer string }{
		{"docs", `{"skill":"pdf"}`, `["forms.md","refs/tables.md"]`},
		{"bare name", `pdf`, `["forms.md","refs/tables.md"]`},
		{"no docs", `{"skill":"csv"}`, `[]`},
		{"unknown", `{"skill":"dcox"}`, `error: unknown skill "dcox": did you mean "docx"?`},
		{"hidden", `{"skill":"secret"}`, `error: unknown skill "secret": use a name from the list of available skills`},
		{"no skill", `{}`, `error: "skill" is missing; send an object such as {"skill":"…"}`},
		{"unknown field: an array has no place for a warning", `{"skill":"pdf","verbose":true}`, `["forms.md","refs/tables.md"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newHarness(t, library())
			d.expect("skill_list_docs", tt.args, tt.answer)
			if d.record().Version != 0 || len(d.events) != 0 {
				t.Error("listing docs has changed the record or reported an event")
			}
		})
	}
	t.Run("every doc, as JSON", func(t *testing.T) {
		files := map[string]string{"many/SKILL.md": md("many", "Many docs.", "Body.")}
		for i := range 100 {
			files["many/"+string(rune('a'+i/10))+string(rune('0'+i%10))+` "<&>.md`] = "x"
		}
		d := newHarness(t, files)
		var got []string
		if err := json.Unmarshal([]byte(d.call("skill_list_docs", "many")), &got); err != nil || len(got) != 100 || !slices.IsSorted(got) {
			t.Errorf("%d docs, %v: %q", len(got), err, got)
		}
	})
	t.Run("the run is over", func(t *testing.T) {
		d := newHarness(t, library())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := d.try(ctx, "skill_list_docs", `pdf`); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}
