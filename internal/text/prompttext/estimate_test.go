package prompttext

import "testing"

func TestEstimate(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{{"", 0}, {"a", 1}, {"abcd", 1}, {"abcde", 2}, {"文档", 2}, {"abcd文", 2}, {"\xff\xfe", 2}} {
		if got := Estimate(tt.text); got != tt.want {
			t.Errorf("Estimate(%q) = %d, want %d", tt.text, got, tt.want)
		}
	}
}
