package search

import (
	"slices"
	"testing"
)

// Words beside each other are pairs, and words that are no stop words with at most one such word between.
func TestWordPairs(t *testing.T) {
	v := &vocabulary{words: []string{
		"a bug", "bug fix", "fix a", "fix bug", "fix crash", "fix login", "login crash", "the login", "the the",
	}}
	for text, want := range map[string][]string{
		"fix a bug":                  {"fix a", "a bug", "fix bug"},
		"Fix the login crash!":       {"the login", "fix login", "login crash", "fix crash"},
		"fix a bug, fix a bug":       {"fix a", "a bug", "fix bug", "bug fix"},
		"fix this and that now? bug": {"fix bug"},
		"fix one two crash":          nil,
		"fix 登录 bug":                 {"fix bug"},
		"the the":                    {"the the"},
		"bug":                        nil,
		"":                           nil,
	} {
		p := wordPairs{vocabulary: v}
		eachWord(text, p.add)
		got := make(map[string]bool)
		for _, i := range p.found {
			got[v.words[i]] = true
		}
		if len(got) != len(want) || slices.ContainsFunc(want, func(pair string) bool { return !got[pair] }) {
			t.Errorf("%q: pairs %v, want %v", text, got, want)
		}
	}
}

// A pair counts once, however often a text has it.
func TestWordPairsOnce(t *testing.T) {
	v := loadedVocabulary()
	at := v.find([]byte("pull request"))
	if at < 0 {
		t.Fatal("the vocabulary does not have the pair")
	}
	var once, often [vectorSize]float32
	v.addPiece(&once, at)
	p := wordPairs{vocabulary: v, found: []int{at, at, at}}
	p.addTo(&often)
	if once != often || once == ([vectorSize]float32{}) {
		t.Errorf("the vector of a pair that stands three times is %v, want %v", often, once)
	}
}
