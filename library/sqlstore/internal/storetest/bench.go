package storetest

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/library"
)

// Bench measures inspecting and editing a skill of 10 KiB.
func Bench(b *testing.B, store library.Store) {
	b.Helper()
	l, err := library.New(store)
	if err != nil {
		b.Fatal(err)
	}
	long := text(0) + strings.Repeat("A line of the body of a skill.\n", 330)
	if _, err := l.Import(b.Context(), actor, skill, map[string][]byte{"SKILL.md": []byte(long)}, false, ""); err != nil {
		b.Fatal(err)
	}
	b.Run("inspect", func(b *testing.B) {
		for b.Loop() {
			s, err := l.Inspect(b.Context(), actor, library.Ref{Skill: skill})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.Read(b.Context(), "SKILL.md"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("commit", func(b *testing.B) {
		s, err := l.Inspect(b.Context(), actor, library.Ref{Skill: skill})
		if err != nil {
			b.Fatal(err)
		}
		ref, n := s.VersionRef, 0
		for b.Loop() {
			n++
			out, err := l.Edit(b.Context(), actor, library.Edit{Action: "patch", Skill: s.ID, Expected: ref, Edits: []library.TextEdit{{From: &first, NewText: text(n)[len("---\nname: counter\ndescription: Counts.\n---\n\n"):]}}})
			if err != nil {
				b.Fatal(err)
			}
			ref = out.VersionRef
		}
	})
}

var first = 6 // the line that counts
