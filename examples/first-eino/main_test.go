package main

import (
	"slices"
	"testing"

	"github.com/satchel-go/satchel/examples/internal/rehearse"
	"github.com/satchel-go/satchel/satcheltest"
)

func TestAsk(t *testing.T) {
	server := rehearse.With(t, satcheltest.Plan(satcheltest.Turn{
		Steps:  []satcheltest.Step{satcheltest.Load("release-notes")},
		Needs:  []string{satcheltest.SkillOpen("release-notes")},
		Answer: "## 1.4.0",
	}))
	if err := ask(t.Context(), "Write the release notes for 1.4.0."); err != nil {
		t.Fatal(err)
	}
	if got, want := rehearse.Contain(server.Requests(), satcheltest.SkillOpen("release-notes")), []bool{false, true}; !slices.Equal(got, want) {
		t.Errorf("release-notes is in the requests %v, want %v", got, want)
	}
}
