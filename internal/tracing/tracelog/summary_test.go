package tracelog

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestSummarize(t *testing.T) {
	trace, err := ReadFiles("../tracelog/testdata/whole.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s := Summarize(trace)
	got, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"calls":4,"turns":1,"sessions":1,"prompt_tokens":450,"cached_tokens":128,"completion_tokens":36,"estimated_tokens":666,"breaks":1,"cut":0,"dropped":3,` +
		`"skills":[{"skill":"pdf","offered":1,"suggested":1,"loaded":1,"used":1,"tokens":200,"share":0.3003003003003003},` +
		`{"skill":"house-style","offered":1,"suggested":0,"loaded":1,"used":0,"tokens":60,"share":0.09009009009009009},` +
		`{"skill":"xlsx","offered":1,"suggested":0,"loaded":0,"used":0,"tokens":0,"share":0}]}`
	if string(got) != want {
		t.Errorf("the summary is\n%s\nwant\n%s", got, want)
	}
	got, err = json.Marshal(s.Usage())
	if err != nil {
		t.Fatal(err)
	}
	want = `{"calls":4,"turns":1,"skills":[{"skill":"pdf","offered":1,"suggested":1,"loaded":{"model":1,"user":0,"host":0},"used":1,"tokens":200,"share":0.3003003003003003},` +
		`{"skill":"house-style","offered":1,"suggested":0,"loaded":{"model":0,"user":0,"host":1},"used":0,"tokens":60,"share":0.09009009009009009},` +
		`{"skill":"xlsx","offered":1,"suggested":0,"loaded":{"model":0,"user":0,"host":0},"used":0,"tokens":0,"share":0}]}`
	if string(got) != want {
		t.Errorf("the usage is\n%s\nwant\n%s", got, want)
	}
	for name, want := range map[string][2]bool{"pdf": {false, false}, "house-style": {false, true}, "xlsx": {true, false}} {
		for i := range s.Skills {
			if one := &s.Skills[i]; one.Skill == name && [2]bool{one.IsUnused(), one.IsWasted()} != want {
				t.Errorf("%s: unused %v, wasted %v", name, one.IsUnused(), one.IsWasted())
			}
		}
	}
}

// readSession reads a trace of lines without v, seq, time and session.
func readSession(t *testing.T, lines ...string) *Trace {
	t.Helper()
	var b strings.Builder
	for i, l := range lines {
		fmt.Fprintf(&b, `{"v":1,"seq":%d,"time":"2026-11-28T10:00:00Z","session":"s",%s}`+"\n", i+1, l)
	}
	r := NewReader()
	if err := r.Add("trace", strings.NewReader(b.String())); err != nil {
		t.Fatal(err)
	}
	trace, err := r.Trace()
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// An overview lasts until it changes. A turn that has two counts once for a skill of both.
func TestOfferedCountsTurns(t *testing.T) {
	call := func(turn, call int) string { return fmt.Sprintf(`"event":"call","turn":%d,"call":%d`, turn, call) }
	s := Summarize(readSession(t,
		call(1, 1), `"event":"offered","turn":1,"call":1,"skills":["a","b"]`, call(2, 2),
		call(3, 3), call(3, 4), `"event":"offered","turn":3,"call":4,"skills":["b"],"named":["c"]`,
		`"event":"suggested","turn":3,"call":3,"skills":["a"]`, `"event":"suggested","turn":3,"call":4,"skills":["a"]`,
		call(4, 5)))
	got := map[string]int{}
	for _, one := range s.Skills {
		got[one.Skill] = one.Offered
	}
	if want := map[string]int{"a": 3, "b": 4, "c": 2}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("offered %v, want %v", got, want)
	}
	if s.Skills[0].Suggested != 1 {
		t.Errorf("a was suggested in %d turns, want 1", s.Skills[0].Suggested)
	}
}

// Lines of a call that the trace lacks count too.
func TestLostCall(t *testing.T) {
	s := Summarize(readSession(t, `"event":"loaded","turn":1,"call":1,"skill":"a","by":"user"`, `"event":"answer","turn":1,"call":1,"prompt_tokens":7`))
	if s.Calls != 0 || s.PromptTokens != 7 || len(s.Skills) != 1 || s.Skills[0].Loaded != (Loads{User: 1}) {
		t.Errorf("summary %+v", s)
	}
}

func TestUsageHasABoundedNumberOfNames(t *testing.T) {
	var lines []string
	for i := range maxNames + 30 {
		lines = append(lines, fmt.Sprintf(`"event":"loaded","turn":1,"call":1,"skill":"skill-%03d","by":"model"`, i))
	}
	u := Summarize(readSession(t, lines...)).Usage()
	if last := u.Skills[len(u.Skills)-1]; len(u.Skills) != maxNames+1 || last.Skill != "other" || last.Loaded.Model != 30 {
		t.Errorf("%d rows, the last is %+v", len(u.Skills), u.Skills[len(u.Skills)-1])
	}
}
