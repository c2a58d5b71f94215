package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// snapshotOf is a snapshot of skills with these names.
func snapshotOf(skills []core.Skill) *Snapshot {
	all := make([]candidate, len(skills))
	for i, s := range skills {
		s.ID = "dir:r/" + s.Name
		all[i] = candidate{skill: s, key: skilltext.CleanName(s.Name), root: "r", folder: s.Name}
	}
	return newSnapshot(all, nameSkills(all, Shadow), nil)
}

func named(names ...string) *Snapshot {
	skills := make([]core.Skill, len(names))
	for i, name := range names {
		skills[i] = core.Skill{Name: name, Description: "Does something."}
	}
	return snapshotOf(skills)
}

func TestSuggest(t *testing.T) {
	names := []string{"pdf", "pdf-forms", "pdf-merge-tool", "docx", "xlsx", "web-search", "web-research", "r", "技能助手"}
	tests := []struct {
		name, ask string
		want      []string
	}{
		{"swapped letters", "pfd", []string{"pdf"}},
		{"case", "PDF", []string{"pdf", "pdf-forms", "pdf-merge-tool"}},
		{"underscore and space", "Web_Search", []string{"web-search", "web-research"}},
		{"one letter more", "docxx", []string{"docx"}},
		{"beginning", "pdf-m", []string{"pdf", "pdf-merge-tool"}},
		{"goes on", "xlsx-spreadsheets", []string{"xlsx"}},
		{"other scripts", "技能助", []string{"技能助手"}},
		{"at most three", "pdf-", []string{"pdf", "pdf-forms", "pdf-merge-tool"}},
		{"far away", "kubernetes", nil},
		{"one letter says nothing", "q", nil},
		{"empty", " ", nil},
		{"hostile", strings.Repeat("pdf\x00\xff", 1000), []string{"pdf"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			same(t, "suggestions", tt.want, named(names...).Suggest(tt.ask))
		})
	}
	t.Run("hidden skills are not suggested", func(t *testing.T) {
		s := snapshotOf([]core.Skill{{Name: "pdf", Hidden: true}})
		same(t, "suggestions", nil, s.Suggest("pdf"))
	})
}

// Hits of the search come before similar spellings, but after names with one typing error.
func TestSuggestSearchesFirst(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	for name, about := range map[string]string{
		"pdf": "Reads and fills PDF files.", "pdf-co-automation": "Automate PDF.co tasks.", "dpd2-automation": "Automate DPD2 tasks.",
		"v0-automation": "Automate v0 tasks.", "cal-automation": "Automate Cal tasks.", "xlsx": "Edits spreadsheets with formulas.",
	} {
		files[name+"/SKILL.md"] = skillText(name, about, "")
	}
	write(t, dir, files)
	c := mustOpen(t, []source.Root{source.Dir(dir)})
	for ask, want := range map[string][]string{
		"pdf-automation": {"pdf-co-automation", "pdf"}, "xslx": {"xlsx"}, "PDF": {"pdf"}, "spreadsheets": {"xlsx"}, "qqq": nil, "": nil,
	} {
		got := c.Suggest(ask)
		same(t, ask, want, got[:min(len(got), max(len(want), 1))])
	}
}

func TestSuggestIsBounded(t *testing.T) {
	names := make([]string, 10_000)
	for i := range names {
		names[i] = fmt.Sprintf("%05d%s", i, strings.Repeat("ab", 500))
	}
	s := named(names...)
	if got := s.Suggest(strings.Repeat("ab", 5_000_000)); len(got) > maxSuggestions {
		t.Errorf("%d suggestions", len(got))
	}
}

func FuzzSuggest(f *testing.F) {
	s := named("pdf", "docx", "web-search", "技能", "\xff")
	for _, seed := range []string{"pfd", "", "WEB", "技", "\xffa"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, ask string) {
		names := s.Suggest(ask)
		if len(names) > maxSuggestions {
			t.Errorf("%d suggestions", len(names))
		}
		for _, name := range names {
			if _, ok := s.Skill(name); !ok {
				t.Errorf("%q is no skill", name)
			}
		}
	})
}

// TestDigest compares snapshots by what a model sees of them.
func TestDigest(t *testing.T) {
	skill := func(name, description string, hidden bool) core.Skill {
		return core.Skill{Name: name, Description: description, Hidden: hidden}
	}
	old := snapshotOf([]core.Skill{skill("a", "A.", false), skill("b", "B.", false), skill("c", "C.", true), skill("d", "D.", true)})
	tests := []struct {
		name string
		now  []core.Skill
		same bool
	}{
		{"nothing", old.Skills(), true},
		{"hidden skills do not count", []core.Skill{skill("a", "A.", false), skill("b", "B.", false), skill("c", "Other.", true)}, true},
		{"licence does not count", []core.Skill{{Name: "a", Description: "A.", License: "MIT"}, skill("b", "B.", false)}, true},
		{"hidden now", []core.Skill{skill("a", "A.", false), skill("b", "B.", true)}, false},
		{"visible now", []core.Skill{skill("a", "A.", false), skill("b", "B.", false), skill("c", "C.", false)}, false},
		{"all", []core.Skill{skill("b", "Other.", false), skill("e", "E.", false)}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := snapshotOf(tt.now).Digest() == old.Digest(); got != tt.same {
				t.Errorf("the same digest: %v, want %v", got, tt.same)
			}
		})
	}
	if d := new(Snapshot).Digest(); d != snapshotOf(nil).Digest() {
		t.Errorf("digest of the zero snapshot is %q", d)
	}
}
