package session_test

import (
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// benchRecord is a record of a busy session.
func benchRecord() *state.Record {
	rec := &state.Record{Key: core.SessionKey{Session: "s", Agent: "main"}, Turn: 12}
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

func benchLoad(b *testing.B, s session.Store) {
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

func benchSave(b *testing.B, s session.Store) {
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

func BenchmarkMemoryLoad(b *testing.B) { benchLoad(b, session.NewMemory()) }
func BenchmarkMemorySave(b *testing.B) { benchSave(b, session.NewMemory()) }

func BenchmarkDirectoryLoad(b *testing.B) { benchLoad(b, openDirectory(b, b.TempDir())) }

func BenchmarkDirectorySave(b *testing.B) {
	for name, opts := range map[string][]session.DirectoryOption{
		"sync":            nil,
		"no sync":         {session.WithSync(false)},
		"no sync no link": {session.WithSync(false), session.WithoutLinks},
	} {
		b.Run(name, func(b *testing.B) { benchSave(b, openDirectory(b, b.TempDir(), opts...)) })
	}
}
