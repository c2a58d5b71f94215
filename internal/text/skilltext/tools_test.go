package skilltext

import (
	"slices"
	"testing"
)

func TestSplitTools(t *testing.T) {
	tests := []struct {
		text     string
		want     []string
		balanced bool
	}{
		{"", []string{}, true},
		{" , ,\t", []string{}, true},
		{"Read", []string{"Read"}, true},
		{"Read, Write,Edit  Grep", []string{"Read", "Write", "Edit", "Grep"}, true},
		{"Bash(git log *), Agent(a:b, c:d)", []string{"Bash(git log *)", "Agent(a:b, c:d)"}, true},
		{"A(b (c, d) e) F", []string{"A(b (c, d) e)", "F"}, true},
		{"mcp__db__* - Read", []string{"mcp__db__*", "-", "Read"}, true},
		{"Bash(git, Read", []string{"Bash(git, Read"}, false},
		{"Bash) Read", []string{"Bash)", "Read"}, false},
		{"读\u3000写", []string{"读", "写"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, balanced := SplitTools(tt.text)
			if got == nil || !slices.Equal(got, tt.want) || balanced != tt.balanced {
				t.Errorf("SplitTools = %q, %t; want %q, %t", got, balanced, tt.want, tt.balanced)
			}
			if joined, ok := JoinTools(got); ok {
				if again, _ := SplitTools(joined); !slices.Equal(again, got) {
					t.Errorf("joined as %q, read as %q", joined, again)
				}
			} else if balanced {
				t.Error("balanced tokens cannot be joined")
			}
		})
	}
}
