package call

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/engine/state"
)

func TestHasGrant(t *testing.T) {
	rec := &state.Record{}
	rec.Grant(state.Grant{Tool: "run", Use: "x", Skills: map[string]string{"a": "1", "b": "2"}})
	rec.Grant(state.Grant{Tool: "search"})
	for _, tt := range []struct {
		tool, use string
		skills    map[string]string
		want      bool
	}{
		{"run", "x", map[string]string{"a": "1", "b": "2"}, true},
		{"run", "x", map[string]string{"a": "1"}, true},
		{"run", "x", nil, true},
		{"run", "x", map[string]string{"a": "other"}, false},
		{"run", "x", map[string]string{"a": "1", "c": "3"}, false},
		{"run", "y", nil, false},
		{"search", "", nil, true},
		{"search", "", map[string]string{"a": "1"}, false},
		{"other", "", nil, false},
	} {
		if got := hasGrant(rec, &state.Grant{Tool: tt.tool, Use: tt.use, Skills: tt.skills}); got != tt.want {
			t.Errorf("%s %q with %v: %v", tt.tool, tt.use, tt.skills, got)
		}
	}
}

func TestDigestOf(t *testing.T) {
	// sha256("1:a2:bc"), computed outside Go. Stored approvals depend on this value.
	const want = "5310a58788781ab25d5ad7c3f85035824b4eb7bdfa394e0ac2186271472b5492"
	seen := map[string]string{}
	for _, parts := range [][]string{nil, {""}, {"", ""}, {"abc"}, {"a", "bc"}, {"ab", "c"}, {"1:a"}, {"a2:bc"}} {
		sum := digestOf(parts...)
		if other, taken := seen[sum]; taken {
			t.Errorf("%q and %s have one sum", parts, other)
		}
		seen[sum] = strings.Join(parts, "|")
	}
	if got := digestOf("a", "bc"); got != want {
		t.Errorf("Sum(a, bc) is %s, want %s", got, want)
	}
}
