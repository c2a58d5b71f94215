package search_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/text/search"
)

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b        string
		limit, want int
	}{
		{"", "", 3, 0}, {"", "ab", 3, 2}, {"ab", "", 3, 2}, {"pdf", "pdf", 3, 0}, {"pdf", "pfd", 3, 1}, {"pdf", "pd", 3, 1},
		{"pdf", "xdf", 3, 1}, {"kitten", "sitting", 9, 3}, {"kitten", "sitting", 3, 3}, {"kitten", "sitting", 2, 2},
		{"ca", "abc", 9, 3}, // a swapped pair is not edited again
		{"pdf", "pdf", 0, 0}, {"abcdef", "abc", 3, 3},
		{strings.Repeat("a", search.MaxCompared), strings.Repeat("a", search.MaxCompared), 9, 0},
		{strings.Repeat("a", search.MaxCompared+1), strings.Repeat("a", search.MaxCompared+1), 9, 9},
	} {
		if got := search.Distance([]byte(tt.a), []byte(tt.b), tt.limit); got != tt.want {
			t.Errorf("from %q to %q, at most %d: %d, want %d", tt.a, tt.b, tt.limit, got, tt.want)
		}
	}
	if got := search.Distance([]rune("größe"), []rune("grösse"), 9); got != 2 {
		t.Errorf("a letter of two bytes counts %d, want 2 edits", got)
	}
}

// TestLimit: a limit cuts the distance off and changes nothing below it.
func TestLimit(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() []byte {
		b := make([]byte, random.IntN(9))
		for i := range b {
			b[i] = "abc"[random.IntN(3)]
		}
		return b
	}
	for range 5000 {
		a, b := text(), text()
		whole := search.Distance(a, b, 100)
		if back := search.Distance(b, a, 100); back != whole {
			t.Fatalf("from %q to %q is %d, and back %d", a, b, whole, back)
		}
		for limit := range 10 {
			if got := search.Distance(a, b, limit); got != min(whole, limit) {
				t.Fatalf("from %q to %q is %d, at most %d: %d", a, b, whole, limit, got)
			}
		}
	}
}
