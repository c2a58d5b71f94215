package judging

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/satchel-go/satchel/permission"
)

// matchesPath compares without a bound that the tests could reach.
func matchesPath(pattern, file, home string) bool {
	p, err := newPathPattern(pattern, testBudget())
	return err == nil && p.matches(file, home, newMeter(context.Background()))
}

func TestPathPatternBounds(t *testing.T) {
	for pattern, want := range map[string]error{
		strings.Repeat("{a,a}", 6):                              nil,
		strings.Repeat("{a,a}", 7):                              errAlternatives,
		strings.Repeat("{a,a}", 40):                             errGroups,
		strings.Repeat("{a,a}", 150):                            errGroups,
		strings.Repeat("{", 16):                                 errBraces,
		strings.Repeat("{", 16) + "a" + strings.Repeat("}", 16): nil,
		"{" + strings.Repeat("a,", 63) + "a}":                   nil,
		"{" + strings.Repeat("a,", 64) + "a}":                   errAlternatives,
		"{a,{b,c}}":                                             nil,
		"a}":                                                    errBraces,
		"[a":                                                    errClass,
		`a\`:                                                    errEscape,
		strings.Repeat("**/", 300):                              nil,
	} {
		if _, err := newPathPattern(pattern, testBudget()); err != want {
			t.Errorf("%.40q: %v, want %v", pattern, err, want)
		}
	}
}

// A rule beyond the bounds allows nothing and says why.
func TestRulesBeyondTheBounds(t *testing.T) {
	for entry, fault := range map[string]string{
		"Write(" + strings.Repeat("{a,a}", 40) + ")":  "its pattern has more than 16 groups in braces",
		"Write(" + strings.Repeat("{a,a}", 150) + ")": "its pattern has more than 16 groups in braces",
		"Read(" + strings.Repeat("{a,b}", 12) + ")":   "its pattern has more than 64 alternatives in braces",
		"Bash(" + strings.Repeat("*a", 70) + ")":      "its pattern has more than 64 times *",
		"Write(" + strings.Repeat("a", 2000) + ")":    "longer than 1024 bytes",
		"Write(a{b)": "its pattern has braces that do not match",
		"Bash(git":   faultForm,
		"Bash()":     "an empty pattern",
		"Bash(awk '{print}' " + strings.Repeat("{a,a}", 40) + ":*)": "", // in a command pattern, braces are ordinary characters
	} {
		r := readRule(entry, testBudget())
		if r.Fault != fault {
			t.Errorf("%.40q: %q, want %q", entry, r.Fault, fault)
		}
		var j Judge
		q := permission.Tool{Name: "Write", Takes: permission.Path}.RequestText(strings.Repeat("a", 40))
		if v := j.decide(q, []List{{Skill: "a", Rules: []Rule{r}}}); v.Outcome != Denied {
			t.Errorf("%.40q: %+v", entry, v)
		}
	}
}

// The work of comparing any list is bounded, and stops when the context ends.
func TestWorkIsBounded(t *testing.T) {
	var j Judge
	var entries []string
	for range maxRules / 2 {
		entries = append(entries, "Write(*"+strings.Repeat("a", 1000)+"b)", "Write(**/"+strings.Repeat("a/", 500)+"b)")
	}
	list := []List{{Skill: "a", Rules: Rules(entries)}}
	for _, file := range []string{strings.Repeat("a", maxPath), strings.Repeat("a/", maxPath/2)} {
		q := permission.Tool{Name: "Write", Takes: permission.Path}.RequestText(file)
		if v := j.decide(q, list); v.Outcome != Denied || !strings.Contains(v.Reason, "it is too much to compare") {
			t.Errorf("%+v", v)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		m := newMeter(ctx)
		d := decision{Judge: &j, lists: list, meter: m}
		if v := d.verdict(&q); v.Outcome != Denied || !m.exhausted() {
			t.Errorf("after the end of its context %+v, %d left", v, m.left)
		}
		if _, err := j.Decide(ctx, q, list); err == nil {
			t.Error("the end of the context is no error")
		}
	}
}

// FuzzPathPattern compares patterns with the library that collects outputs.
func FuzzPathPattern(f *testing.F) {
	for _, seed := range [][2]string{
		{"docs/**", "docs/a/b"}, {"**/x", "x"}, {"a/**/b", "a/b"}, {"{a,b/*}.md", "b/c.md"}, {"[a-c]?*", "bcd"}, {"a**b", "axb"},
		{"[^a]/x", "b/x"}, {`\*`, "*"}, {"**", "a"}, {"{**,a}/x", "b/c/x"}, {strings.Repeat("{a,a}", 40), "a"}, {"*a*a*a*b", "aaaaaaaa"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, file string) {
		if len(pattern) > maxRule || len(file) > maxPath {
			return
		}
		p, err := newPathPattern(pattern, testBudget())
		if err != nil {
			return
		}
		m := newMeter(context.Background())
		started := time.Now()
		got := p.matches(file, "", m)
		if took := time.Since(started); took > time.Minute {
			t.Fatalf("%q took %s for %q", pattern, took, file)
		}
		if !got || !plain(pattern) || !plain(file) {
			return
		}
		// If the library accepts the pattern too, we must not match more than it does.
		if want, err := doublestar.Match(pattern, file); err == nil && !want {
			t.Errorf("%q is for %q", pattern, file)
		}
	})
}

// plain reports a text that is neither cleaned nor read in another way.
func plain(text string) bool {
	return text != "" && !strings.ContainsAny(text, `.~\![`) && !strings.Contains(text, "//") && !strings.HasPrefix(text, "/") && !strings.HasSuffix(text, "/")
}

// testBudget returns the full budget of one list.
func testBudget() *int {
	left := maxAlternativeBytes
	return &left
}

// TestAlternativesOfAList: the braces of a list write out little more than the list itself,
// and an entry beyond that allows nothing.
func TestAlternativesOfAList(t *testing.T) {
	entry := "Read(" + strings.Repeat("{a,b}", 6) + strings.Repeat("x", 900) + ") "
	tokens, faults := 0, 0
	rules := Parse(strings.Repeat(entry, 60) + "Read(docs/**)")
	for _, r := range rules {
		if r.Fault != "" {
			faults++
			if r.path != nil || !strings.Contains(r.Fault, "more than 65536 bytes") {
				t.Errorf("%q: %+v", r.Fault, r.path)
			}
			continue
		}
		for _, alternative := range r.path.alternatives {
			for _, e := range alternative {
				tokens += len(e)
			}
		}
	}
	if tokens == 0 || tokens > maxAlternativeBytes || faults == 0 || len(rules) != 61 {
		t.Errorf("%d tokens, %d faults, %d rules", tokens, faults, len(rules))
	}
}
