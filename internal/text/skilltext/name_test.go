package skilltext_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/text/skilltext"
)

func TestNameProblems(t *testing.T) {
	for name, want := range map[string][]string{
		"pdf":                    nil,
		"a":                      nil,
		"8004":                   nil,
		" padded ":               nil,
		strings.Repeat("a", 64):  nil,
		strings.Repeat("a", 65):  {"name-too-long"},
		strings.Repeat("技", 64):  nil,
		"ﬁle":                    nil,
		"１２":                     nil,
		"a²":                     nil,
		"ⅷ":                      nil,
		"𝒶":                      nil,
		"技能":                     nil,
		"мой-навык":              nil,
		"日本語スキル":                 nil,
		"ß":                      nil,
		"naïve":                  nil,
		"½":                      {"name-invalid-character"},
		"क्षमा":                  {"name-invalid-character"},
		"İ":                      {"name-not-lowercase"},
		"ǅ":                      {"name-not-lowercase"},
		"НАВЫК":                  {"name-not-lowercase"},
		"my_skill":               {"name-invalid-character"},
		"a.b":                    {"name-invalid-character"},
		"a/b":                    {"name-invalid-character"},
		"a b":                    {"name-invalid-character"},
		"🦀":                      {"name-invalid-character"},
		"-a":                     {"name-edge-hyphen"},
		"a-":                     {"name-edge-hyphen"},
		"a--b":                   {"name-double-hyphen"},
		"":                       {"name-missing"},
		" ":                      {"name-missing"},
		"--A_" + "\xff":          {"name-not-lowercase", "name-edge-hyphen", "name-double-hyphen", "name-invalid-character"},
		strings.Repeat("A ", 50): {"name-too-long", "name-not-lowercase", "name-invalid-character"},
	} {
		t.Run(name, func(t *testing.T) {
			all := skilltext.NameProblems(name)
			var got []string
			for _, p := range all {
				got = append(got, p.Code)
			}
			if !slices.Equal(got, want) {
				t.Errorf("codes = %q, want %q", got, want)
			}
			for _, p := range all {
				if p.Message == "" {
					t.Errorf("problem %+v", p)
				}
			}
		})
	}
}

func TestCleanName(t *testing.T) {
	for name, want := range map[string]string{"": "", " pdf\n": "pdf", "ﬁle": "file", "cafe\u0301": "café"} {
		if got := skilltext.CleanName(name); got != want {
			t.Errorf("CleanName(%q) = %q, want %q", name, got, want)
		}
	}
}
