package skilltools

import (
	"fmt"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/text/callargs"
)

// Arguments of the maximum length are decoded quickly, and the warnings about
// them stay short.
func TestHugeArguments(t *testing.T) {
	many := func(each string) string { return strings.Repeat(each, callargs.MaxBytes/len(each)-10) }
	distinct := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < callargs.MaxBytes-100; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	for _, tt := range []struct{ name, raw string }{
		{"deep", many("[")},
		{"deep object", many(`{"a":`)},
		{"deep value", `{"skill":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`},
		{"wrapped again and again", many(`{"__arg1":`)},
		{"distinct docs", `{"skill":"pdf","docs":[` + distinct(`"%d",`) + `]}`},
		{"distinct skills", `{"skills":[` + distinct(`"%d",`) + `]}`},
		{"unknown fields", `{"skill":"pdf",` + distinct(`"f%d":0,`) + `}`},
		{"one long name", `{"skill":"` + many("x") + `"}`},
		{"one long doc", `{"skill":"pdf","docs":"` + many("x") + `"}`},
		{"one long mode", `{"skill":"pdf","mode":"` + many("x") + `"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newHarness(t, library())
			d.Max = 0
			d.call("skill_load", `pdf`)
			for _, o := range Default() {
				answer := d.call(o.Name, tt.raw)
				if len(answer) > 50_000 {
					t.Errorf("%s answers %d bytes, beginning %.200q", o.Name, len(answer), answer)
				}
			}
		})
	}
}
