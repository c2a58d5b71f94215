package braces_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/text/braces"
)

func TestExpand(t *testing.T) {
	class := func(text string) (int, error) { return max(0, strings.IndexByte(text, ']')), nil }
	for pattern, want := range map[string][]string{
		"":           {""},
		"a":          {"a"},
		"a{b,c}d":    {"abd", "acd"},
		"{a,b}{c,d}": {"ac", "ad", "bc", "bd"},
		"{a{b,c},}x": {"abx", "acx", "x"},
		`\{a,b\}`:    {`\{a,b\}`},
		"[{,}]{a}":   {"[{,}]a"},
		"a,b":        {"a,b"},
	} {
		if got, err := braces.Expand(pattern, 4, class); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v, want %q", pattern, got, err, want)
		}
	}
	for pattern, want := range map[string]error{
		"}": braces.ErrUnopened, "{a}}": braces.ErrUnopened, "{": braces.ErrUnclosed, "{a,{b}": braces.ErrUnclosed,
		"{a,b,c,d,e}": braces.ErrMany, strings.Repeat("{a,b}", 1000): braces.ErrMany,
	} {
		if got, err := braces.Expand(pattern, 4, class); !errors.Is(err, want) || got != nil {
			t.Errorf("%.20q: %q, %v, want %v", pattern, got, err, want)
		}
	}
}
