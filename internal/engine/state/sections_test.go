package state_test

import (
	"testing"

	"github.com/satchel-go/satchel/internal/engine/state"
)

func TestSectionDoc(t *testing.T) {
	for name, want := range map[string]string{
		"x.md#a": "x.md", "refs/x.md#a-b_1": "refs/x.md", "a#b.md#c": "a#b.md",
		"x.md": "", "x.md#a.md": "", "x#a/b.md": "", "#a": "", "x.md#": "", "": "",
		"SKILL.md#2": "", "sub/skill.MD#2": "",
	} {
		if got := state.SectionDoc(name); got != want {
			t.Errorf("%q is a section of %q, want %q", name, got, want)
		}
		part, whole := state.Doc{Name: name, By: "x.md#larger"}, state.Doc{Name: want}
		if !part.IsCoveredBy(name) || !part.IsCoveredBy("x.md#larger") || want != "" && (!part.IsCoveredBy(want) || whole.IsCoveredBy(name)) {
			t.Errorf("IsCoveredBy is wrong for %q and %q", want, name)
		}
	}
}
