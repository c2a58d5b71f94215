package search

import (
	"maps"
	"math"
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	x := built(shelf...)
	tests := map[string]struct {
		phrasing string
		document int
		want     []string
	}{
		"as written, in lower case": {"Please FILL in the forms of this PDF", 2, []string{"fill", "forms", "pdf"}},
		"another document":          {"Please FILL in the forms of this PDF", 0, []string{"fill", "forms"}},
		"stems of one word":         {"publishing a release", 1, []string{"publishing", "release"}},
		"camel case":                {"a salesReport", 3, []string{"salesreport"}},
		"pairs of characters":       {"销售数据", 4, []string{"售数", "数据", "销售"}},
		"nothing in common":         {"bake bread", 0, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := x.Words(test.phrasing, []int{test.document})[0]
			if words := slices.Sorted(maps.Keys(got)); !slices.Equal(words, test.want) {
				t.Errorf("words %q, want %q", words, test.want)
			}
			sum, score := 0.0, 0.0
			for _, weight := range got {
				sum += weight
			}
			for _, h := range x.Search(Query{Phrasings: []string{test.phrasing}}) {
				if h.Document == test.document {
					score = h.Score
				}
			}
			if math.Abs(sum-score) > 1e-9 {
				t.Errorf("the words add up to %g, the score is %g", sum, score)
			}
		})
	}
	if got := (*Index)(nil).Words("fill", []int{0}); len(got) != 1 || len(got[0]) != 0 {
		t.Errorf("an empty index: %v", got)
	}
}
