package processors

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
)

// some are skills with what a description may hold.
func some() []core.Skill {
	return []core.Skill{
		{Name: "csv", Description: "Reads tables.", Location: "skills/csv/SKILL.md"},
		{Name: "docx", Description: "Writes </description> & \"documents\" <b>,\n  over\tseveral lines.", Location: "skills/docx/SKILL.md"},
		{Name: "pdf", Description: "Reads PDF files. Use it for forms.", Location: "skills/a&b/SKILL.md"},
	}
}

func many(n int) (skills []core.Skill) {
	for i := range n {
		skills = append(skills, core.Skill{
			Name: fmt.Sprintf("skill-%05d", i), Description: fmt.Sprintf("Handles case %d. %s", i, strings.Repeat("Use it then. ", i%9)),
			Location: fmt.Sprintf("skills/skill-%05d/SKILL.md", i),
		})
	}
	return skills
}

// TestOverviewText compares every kind of overview and note with
// testdata/overview.txtar, which -update writes.
func TestOverviewText(t *testing.T) {
	const file = "testdata/overview.txtar"
	rule := "Load a skill with skill_load."
	got := []section{
		{"xml", OverviewText{Guidance: rule}.Render(some())},
		{"xml with location, without guidance", OverviewText{Location: true}.Render(some())},
		{"lines", OverviewText{Format: Lines, Guidance: rule}.Render(some())},
		{"lines with location", OverviewText{Format: Lines, Location: true, Guidance: rule}.Render(some())},
		{"descriptions as far as they go", OverviewText{Tokens: 120}.Render(many(5))},
		{"names only", OverviewText{Tokens: 80, Format: Lines}.Render(many(5))},
		{"not even every name", OverviewText{Tokens: 70}.Render(many(5))},
		{"no room at all", OverviewText{Tokens: 1, Guidance: rule}.Render(many(5))},
		{"note", ChangeNote(OverviewText{Guidance: rule}, some()[:1], some()[1:2], []string{"old", "<b>"})},
		{"note of lines, removed only", ChangeNote(OverviewText{Format: Lines}, nil, nil, []string{"old"})},
	}
	about, want := readSections(t, file)
	if *update {
		writeSections(t, file, about, got)
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", text(got), text(want))
	}
}

func TestOverviewWithoutSkills(t *testing.T) {
	if got := (OverviewText{Guidance: "Load."}).Render(nil); got != "" {
		t.Errorf("got %q", got)
	}
}

// The overview never exceeds its bound, and never leaves a skill out without
// counting it.
func TestOverviewBudget(t *testing.T) {
	guidance := strings.Repeat("A rule. ", 50)
	for _, n := range []int{1, 10, 100, 3000} {
		skills := many(n)
		for _, tokens := range []int{0, 200, 250, 500, 1000, 4000, 20_000} {
			for _, o := range []OverviewText{{Tokens: tokens, Guidance: guidance}, {Tokens: tokens, Format: Lines, Location: true}} {
				got := o.Render(skills)
				bound := tokens
				if bound == 0 {
					bound = DefaultOverviewTokens
				}
				if cost := EstimateTokens(got); cost > bound {
					t.Errorf("%d skills in %d tokens of %d", n, cost, bound)
				}
				checkCounts(t, o, skills, got)
			}
		}
	}
}

// checkCounts reports when full entries, names and counts do not add up to all
// skills, or are not in their order.
func checkCounts(t *testing.T, o OverviewText, skills []core.Skill, got string) {
	t.Helper()
	full := 0
	for i := range skills {
		if strings.Contains(got, o.entry(&skills[i])) {
			full++
		}
	}
	named, unlisted := 0, 0
	for line := range strings.Lines(got) {
		if count, list, ok := strings.Cut(strings.Replace(line, " more", "", 1), " by name only:"); ok {
			fmt.Sscan(count, &named)
			if strings.Count(list, ",")+1 != named {
				t.Errorf("%d names, but the text says %d", strings.Count(list, ","), named)
			}
		}
		if count, _, ok := strings.Cut(strings.Replace(line, " more", "", 1), " not listed;"); ok {
			fmt.Sscan(count, &unlisted)
		}
	}
	if full+named+unlisted != len(skills) {
		t.Errorf("%d in full, %d by name, %d not listed of %d", full, named, unlisted, len(skills))
	}
}

func TestChangeNoteIsBounded(t *testing.T) {
	skills := many(5000)
	var names []string
	for _, s := range skills {
		names = append(names, s.Name)
	}
	note := ChangeNote(OverviewText{}, skills, skills, names)
	if cost := EstimateTokens(note); cost > 3*noteTokens+100 {
		t.Errorf("a note of %d tokens", cost)
	}
	removed := note[strings.Index(note, "removed:"):]
	var more int
	fmt.Sscanf(removed[strings.LastIndex(removed, " and ")+5:], "%d more", &more)
	if listed := strings.Count(removed, ",") + 1; listed+more != len(names) || listed == 0 {
		t.Errorf("%d removed skills named and %d counted of %d", listed, more, len(names))
	}
}

func TestEstimateTokens(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{{"", 0}, {"a", 1}, {"abcd", 1}, {"abcde", 2}, {"文档", 2}, {"abcd文", 2}, {"\xff\xfe", 2}} {
		if got := EstimateTokens(tt.text); got != tt.want {
			t.Errorf("EstimateTokens(%q) = %d, want %d", tt.text, got, tt.want)
		}
	}
}
