package session_test

import (
	"bytes"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

var benchKey = core.SessionKey{Session: "s", Agent: "main"}

// benchValue returns a value of the size of the record of a busy session.
func benchValue() session.Value {
	return session.Value{Data: bytes.Repeat([]byte("0123456789abcdef"), 128)}
}

func benchLoad(b *testing.B, s session.Store) {
	ctx := b.Context()
	if _, err := s.Save(ctx, benchKey, benchValue()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if got, err := s.Load(ctx, benchKey); err != nil || got.Version != 1 {
			b.Fatal(got, err)
		}
	}
}

func benchSave(b *testing.B, s session.Store) {
	v, ctx := benchValue(), b.Context()
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if v, err = s.Save(ctx, benchKey, v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMemoryLoad(b *testing.B) { benchLoad(b, session.NewMemory()) }
func BenchmarkMemorySave(b *testing.B) { benchSave(b, session.NewMemory()) }

func BenchmarkDirectoryLoad(b *testing.B) { benchLoad(b, openDirectory(b, b.TempDir())) }

func BenchmarkDirectorySave(b *testing.B) {
	for name, opts := range map[string][]session.Option{
		"sync":            nil,
		"no sync":         {session.WithSync(false)},
		"no sync no link": {session.WithSync(false), session.WithoutLinks},
	} {
		b.Run(name, func(b *testing.B) { benchSave(b, openDirectory(b, b.TempDir(), opts...)) })
	}
}
