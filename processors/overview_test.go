package processors

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/goldentest"
	"github.com/satchel-go/satchel/internal/text/prompttext"
)

// some are skills with what a description may hold.
func some() []core.Skill {
	return []core.Skill{
		{Name: "csv", Description: "Reads tables.", Place: "skills/csv/SKILL.md"},
		{Name: "docx", Description: "Writes </description> & \"documents\" <b>,\n  over\tseveral lines.", Place: "skills/docx/SKILL.md"},
		{Name: "pdf", Description: "Reads PDF files. Use it for forms.", Place: "skills/a&b/SKILL.md"},
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
	got := []goldentest.Section{
		{Head: "xml", Text: OverviewText{Guidance: rule}.Render(some())},
		{Head: "xml with elements, as with a search", Text: OverviewText{Elements: true}.Render(some())},
		{Head: "xml with location, without guidance", Text: OverviewText{Location: true}.Render(some())},
		{Head: "lines", Text: OverviewText{Format: Lines, Guidance: rule}.Render(some())},
		{Head: "lines with location", Text: OverviewText{Format: Lines, Location: true, Guidance: rule}.Render(some())},
		{Head: "shortened descriptions", Text: OverviewText{Tokens: 135}.Render(many(8)[3:])},
		{Head: "shortened alike", Text: OverviewText{Tokens: 175}.Render(many(8)[3:])},
		{Head: "names only", Text: OverviewText{Tokens: 80, Format: Lines}.Render(many(5))},
		{Head: "not even every name", Text: OverviewText{Tokens: 70}.Render(many(5))},
		{Head: "no room at all", Text: OverviewText{Tokens: 1, Guidance: rule}.Render(many(5))},
		{Head: "note", Text: OverviewText{Guidance: rule}.changesText(some()[:1], some()[1:2], []string{"old", "<b>"})},
		{Head: "note of lines, removed only", Text: OverviewText{Format: Lines}.changesText(nil, nil, []string{"old"})},
	}
	about, want := goldentest.Read(t, file)
	if *goldentest.Update {
		goldentest.Write(t, file, about, got)
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", goldentest.Text(got), goldentest.Text(want))
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
					bound = defaultOverviewTokens
				}
				if cost := prompttext.Estimate(got); cost > bound {
					t.Errorf("%d skills in %d tokens of %d", n, cost, bound)
				}
				checkCounts(t, o, skills, got)
			}
		}
	}
}

// checkCounts reports an error if entries, names and counts do not add up to all skills, or if
// a description is too short.
func checkCounts(t *testing.T, o OverviewText, skills []core.Skill, got string) {
	t.Helper()
	var fit Fit
	for i, s := range o.entriesOf(skills) {
		start, end, _ := strings.Cut(o.entryLine(&s, wholeDescription), prompttext.Escape(s.description))
		_, rest, found := strings.Cut(got, start)
		if !found {
			continue
		}
		shown, _, _ := strings.Cut(rest, end)
		switch cut, isCut := strings.CutSuffix(shown, "…"); {
		case !isCut:
			fit.Whole++
		case len(cut) < 60 || !strings.HasPrefix(skills[i].Description, cut+" "):
			t.Errorf("%q is shown as %q", skills[i].Description, shown)
		default:
			fit.Shortened++
		}
	}
	for line := range strings.Lines(got) {
		line = strings.Replace(line, " more", "", 1)
		if count, list, ok := strings.Cut(line, " by name only:"); ok {
			fmt.Sscan(count, &fit.Bare)
			if strings.Count(list, ",")+1 != fit.Bare {
				t.Errorf("%d names, but the text says %d", strings.Count(list, ","), fit.Bare)
			}
		}
		if count, _, ok := strings.Cut(strings.Replace(line, "skill: it loads", "skills: they load", 1), " skills: they load"); ok {
			fmt.Sscan(count, &fit.Missing)
		}
	}
	if counted := o.Fit(skills); counted != fit {
		t.Errorf("Fit is %+v, the text has %+v", counted, fit)
	}
	if fit.Whole+fit.Shortened+fit.Bare+fit.Missing != len(skills) {
		t.Errorf("%+v of %d", fit, len(skills))
	}
	if fit.Bare+fit.Missing > 0 && o.fits(o.entriesOf(skills), minDescription, o.listTokens()) {
		t.Errorf("%+v, although all descriptions have room when they are shortened", fit)
	}
}

// Descriptions are shortened alike: none is cut while a longer one is shown whole.
func TestOverviewShortensAlike(t *testing.T) {
	skills := many(60)
	o := OverviewText{Tokens: 1300}
	fit := o.Fit(skills)
	if fit.Shortened == 0 || fit.Whole == 0 || fit.Bare+fit.Missing > 0 {
		t.Fatalf("%+v", fit)
	}
	got := o.Render(skills)
	shortest, longest := 1<<20, 0
	for _, s := range skills {
		if d := prompttext.Fold(s.Description); strings.Contains(got, d+"\n") {
			longest = max(longest, len(d))
		} else {
			shortest = min(shortest, len(d))
		}
	}
	if longest > shortest+wordEnd {
		t.Errorf("%d characters are whole, %d are cut", longest, shortest)
	}
	if used := prompttext.Estimate(got); used < 1300-frameTokens-60*4 {
		t.Errorf("only %d tokens are used", used)
	}
}

func TestShortened(t *testing.T) {
	for _, tt := range []struct {
		text   string
		length int
		want   string
	}{
		{"one two three", 13, "one two three"},
		{"one two three", 12, "one two three"},
		{"one two three", 4, "one two…"},
		{"one two three", 3, "one…"},
		{strings.Repeat("字", 100), 10, strings.Repeat("字", 10) + "…"},
		{strings.Repeat("x", 100), 99, strings.Repeat("x", 100)},
	} {
		s := entry{description: tt.text, runes: utf8.RuneCountInString(tt.text)}
		if got := s.shorten(tt.length); got != tt.want {
			t.Errorf("%q to %d is %q, want %q", tt.text, tt.length, got, tt.want)
		}
	}
}

func TestChangeNoteIsBounded(t *testing.T) {
	skills := many(5000)
	var names []string
	for _, s := range skills {
		names = append(names, s.Name)
	}
	note := OverviewText{}.changesText(skills, skills, names)
	if cost := prompttext.Estimate(note); cost > 3*noteTokens+100 {
		t.Errorf("a note of %d tokens", cost)
	}
	removed := note[strings.Index(note, "removed:"):]
	var more int
	fmt.Sscanf(removed[strings.LastIndex(removed, " and ")+5:], "%d more", &more)
	if listed := strings.Count(removed, ",") + 1; listed+more != len(names) || listed == 0 {
		t.Errorf("%d removed skills named and %d counted of %d", listed, more, len(names))
	}
}

func TestChangeNoteComparesListings(t *testing.T) {
	skill := func(name, description string) core.Skill { return core.Skill{Name: name, Description: description} }
	before := []core.Skill{skill("a", "1"), skill("b", "1"), skill("c", "1"), skill("two words", "1")}
	after := []core.Skill{skill("a", "1"), skill("b", "2"), skill("d", "1")}
	note := OverviewText{}.ChangeNote(OverviewText{}.Listing(before), after)
	want := OverviewText{}.changesText(after[2:], after[1:2], []string{"c", "two words"})
	if note != want {
		t.Errorf("got\n%s\nwant\n%s", note, want)
	}
	// For a damaged or empty listing, every skill counts as new.
	for _, listing := range []string{"", "\n", "no\x00space\n"} {
		if note := (OverviewText{}).ChangeNote(listing, after); note != (OverviewText{}.changesText(after, nil, nil)) {
			t.Errorf("%q gives\n%s", listing, note)
		}
	}
}

// If not all skills can be described, pinned ones come first, then likely ones, then those of a
// higher scope, then the others by name. The others are listed by name.
func TestOverviewDescribesByRank(t *testing.T) {
	var skills []core.Skill
	for i := range 60 {
		scope := core.ScopeUser
		if i%10 == 9 {
			scope = core.ScopeProject
		}
		skills = append(skills, core.Skill{Name: fmt.Sprintf("s%02d", i), Description: strings.Repeat("word ", 12), Scope: scope})
	}
	text := OverviewText{Tokens: 430, Pinned: []string{"s55"}, Likely: []string{"s44", "s33"}}
	var names []string
	for line := range strings.Lines(text.Render(skills)) {
		if name, ok := strings.CutPrefix(line, "<name>"); ok {
			names = append(names, name[:3])
		}
	}
	want := []string{"s09", "s19", "s29", "s33", "s39", "s44", "s49", "s55", "s59"}
	for _, name := range want[:min(len(want), len(names))] {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not among those described: %q", name, names)
		}
	}
	if !slices.IsSorted(names) || len(names) < len(want) || len(names) > 15 {
		t.Errorf("described are %q", names)
	}
}

func BenchmarkOverview(b *testing.B) {
	skills := many(1000)
	b.ReportAllocs()
	for b.Loop() {
		if (OverviewText{}).Render(skills) == "" {
			b.Fatal("empty")
		}
	}
}
