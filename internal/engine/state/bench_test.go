package state_test

import (
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// benchRecord is a record of a busy session.
func benchRecord() *state.Record {
	rec := &state.Record{Key: core.SessionKey{Session: "s", Agent: "main"}, TurnState: state.TurnState{Turn: 12}}
	for i, skill := range []string{"pdf", "docx", "xlsx", "csv"} {
		digest := session.Digest(skill)
		rec.Activate(skill, digest).Docs = []string{"a.md", "b.md"}
		rec.Deliver(state.Delivery{
			Call: i + 1, Turn: 1, Skill: skill, Digest: digest, Body: true,
			Docs: []state.Doc{{Name: "a.md", Digest: digest}, {Name: "b.md", Digest: digest}},
		})
	}
	return rec
}

func benchLoad(b *testing.B, s *state.Records) {
	rec := benchRecord()
	if _, err := s.Save(b.Context(), rec); err != nil {
		b.Fatal(err)
	}
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if got, err := s.Load(ctx, rec.Key); err != nil || got.Version != 1 {
			b.Fatal(got, err)
		}
	}
}

func benchSave(b *testing.B, s *state.Records) {
	rec := benchRecord()
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if rec, err = s.Save(ctx, rec); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad(b *testing.B) { benchLoad(b, state.NewRecords(session.NewMemory())) }
func BenchmarkSave(b *testing.B) { benchSave(b, state.NewRecords(session.NewMemory())) }
