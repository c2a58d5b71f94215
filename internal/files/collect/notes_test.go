package collect

import (
	"strings"
	"testing"
)

func TestWarningString(t *testing.T) {
	long := strings.Repeat("ä", 300)
	for _, tt := range []struct {
		w    Warning
		want string
	}{
		{Warning{"out/a b.txt", "no such file"}, `"out/a b.txt": no such file`},
		{Warning{"out/\n\"\u202e", "left out"}, `"out/\n\"\u202e": left out`},
		{Warning{long, "left out"}, `"` + long[:400] + `": left out`},
		{Warning{"", "and 3 more"}, "and 3 more"},
	} {
		if got := tt.w.String(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
