package skilltext_test

import (
	"testing"

	"github.com/satchel-go/satchel/internal/text/skilltext"
)

func TestFrontMatterEnd(t *testing.T) {
	tests := []struct {
		name string
		text string
		want int
	}{
		{"whole", "---\na: b\n---\nbody", 13},
		{"with carriage returns", "---\r\na: b\r\n---\r\nbody", 16},
		{"old line ends", "---\ra: b\r---\rbody", 13},
		{"blanks after the fences", "--- \na: b\n---\t\n", 15},
		{"blank lines and a mark before it", "\xef\xbb\xbf\n\n---\n---\n", 13},
		{"dashes inside", "---\na: ---\n ---\n---x\n----\n---\n", 30},
		{"fence at the end may go on", "---\na: b\n---", -1},
		{"line end may go on", "---\na: b\n---\r", -1},
		{"cut in the fence", "---\na: b\n--", -1},
		{"no opening fence", "# Title\n---\na: b\n---\n", -1},
		{"text in the opening fence", "--- a\n---\n---\n", -1},
		{"empty", "", -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := skilltext.FrontMatterEnd([]byte(tt.text)); got != tt.want {
				t.Errorf("FrontMatterEnd = %d, want %d", got, tt.want)
			}
		})
	}
}
