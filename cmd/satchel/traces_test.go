package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/measure"
	"github.com/satchel-go/satchel/internal/testing/goldentest"
	"github.com/satchel-go/satchel/internal/tracing/tracelog"
	"github.com/satchel-go/satchel/satcheltest"
)

// wholeTrace is a trace with each event.
const wholeTrace = "../../internal/tracing/tracelog/testdata/whole.jsonl"

// TestTraceGolden compares what the commands print with testdata/traces.txtar, which -update writes.
// The arguments of a command are the head of its section, where TRACE is the file.
func TestTraceGolden(t *testing.T) {
	const file = "testdata/traces.txtar"
	about, want := goldentest.Read(t, file)
	var got []goldentest.Section
	for _, s := range want {
		args := strings.Fields(strings.ReplaceAll(s.Head, "TRACE", wholeTrace))
		o := program(t, nil, "", args...)
		if o.code != cli.ExitDone || o.err != "" {
			t.Errorf("%s: code %d, err %q", s.Head, o.code, o.err)
		}
		got = append(got, goldentest.Section{Head: s.Head, Text: strings.TrimSuffix(o.out, "\n")})
	}
	if len(want) < 5 {
		t.Errorf("%s has %d sections", file, len(want))
	}
	if *goldentest.Update {
		goldentest.Write(t, file, about, got)
		return
	}
	if goldentest.Text(got) != goldentest.Text(want) {
		t.Errorf("the commands print\n%s\nwant\n%s", goldentest.Text(got), goldentest.Text(want))
	}
}

func TestBrokenLinesOfATrace(t *testing.T) {
	text, err := os.ReadFile(wholeTrace)
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"trace"}, {"trace", "--json"}, {"trace", "--requests"}, {"usage"}, {"usage", "--json"}} {
		got := program(t, nil, string(text[:len(text)-20]), append(command, "-")...)
		if got.code != cli.ExitDone || !strings.Contains(got.err, "satchel: 1 line of the trace cannot be read") || got.out == "" {
			t.Errorf("%v of a torn trace: code %d, err %q", command, got.code, got.err)
		}
		if got := program(t, nil, "no\ntrace\n", append(command, "-")...); got.code != cli.ExitFailed || !strings.Contains(got.err, "2 lines") || got.out != "" {
			t.Errorf("%v of no trace: code %d, out %q, err %q", command, got.code, got.out, got.err)
		}
		newer := string(text) + `{"v":2,"event":"turn"}` + "\n"
		if got := program(t, nil, newer, append(command, "-")...); got.code != cli.ExitFailed || !strings.Contains(got.err, "version") || got.out != "" {
			t.Errorf("%v of a newer trace: code %d, out %q, err %q", command, got.code, got.out, got.err)
		}
		if got := program(t, nil, "", append(command, filepath.Join(t.TempDir(), "missing"))...); got.code != cli.ExitFailed || !strings.Contains(got.err, "missing") {
			t.Errorf("%v of a missing file: code %d, err %q", command, got.code, got.err)
		}
	}
	var s struct{ Cut, Calls int }
	got := program(t, nil, string(text[:len(text)-20]), "trace", "--json", "-")
	if err := json.Unmarshal([]byte(got.out), &s); err != nil || s.Cut != 1 || s.Calls != 4 {
		t.Errorf("cut %d, %d calls, %v", s.Cut, s.Calls, err)
	}
}

// hostileTrace is a trace whose texts would steer a terminal or a browser.
func hostileTrace() string {
	const evil = `\u001b[31m\u202e\u2066\u009b<script>alert(1)</script>\r\n\u0000`
	var b strings.Builder
	for i, l := range []string{
		`"event":"trace","schema":"satchel.trace/1","version":"v","process":"` + evil + `","part":1,"texts":"whole"`,
		`"event":"turn","session":"` + evil + `","turn":1,"prompt":"` + evil + `"`,
		`"event":"message","digest":"m","message":{"role":"` + evil + `","content":"` + evil + `"}`,
		`"event":"tools","digest":"t","tools":[{"name":"` + evil + `","description":"` + evil + `","parameters":{}}]`,
		`"event":"call","session":"` + evil + `","turn":1,"call":1,"model":"` + evil + `","keep":0,"add":["m"],"tools":"t","parts":{"history":7},"texts":[{"skill":"` + evil + `","message":0,"tokens":3}]`,
		`"event":"offered","session":"` + evil + `","turn":1,"call":1,"skills":["` + evil + `"],"named":["` + evil + `"]`,
		`"event":"answer","session":"` + evil + `","turn":1,"call":1,"text":"` + evil + `","tool_calls":[{"id":"1","name":"` + evil + `","arguments":"` + evil + `"}]`,
		`"event":"decision","session":"` + evil + `","turn":1,"call":1,"id":"1","name":"` + evil + `","decision":"` + evil + `","rule":"` + evil + `","reason":"` + evil + `"`,
		`"event":"run","session":"` + evil + `","turn":1,"call":1,"skill":"` + evil + `","command":"` + evil + strings.Repeat("x", 300) + `"`,
		`"event":"not_found","session":"` + evil + `","turn":1,"call":1,"name":"` + evil + `","near":["` + evil + `"]`,
		`"event":"break","session":"` + evil + `","turn":1,"call":1,"cause":"` + evil + `"`,
		`"event":"loaded","session":"` + evil + `","turn":1,"call":1,"skill":"` + evil + `","by":"` + evil + `"`,
	} {
		fmt.Fprintf(&b, `{"v":1,"seq":%d,"time":"2026-11-28T10:00:00Z",%s}`+"\n", i+1, l)
	}
	return b.String()
}

// Nothing in a trace steers a terminal, and lines keep to its width.
func TestTraceIsPrintable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(file, []byte(hostileTrace()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"trace"}, {"trace", "--json"}, {"trace", "--requests"}, {"usage"}, {"usage", "--json"}} {
		isText := len(args) == 1
		for width, got := range map[int]outcome{
			75: onTerminal(t, 75, append(args, "--color", "never", file)...),
			80: program(t, nil, "", append(args, file)...),
		} {
			if got.code != cli.ExitDone || got.err != "" || len(got.out) < 50 {
				t.Errorf("%v: code %d, out %q, err %q", args, got.code, got.out, got.err)
			}
			for l := range strings.Lines(got.out) {
				l = strings.TrimSuffix(l, "\n")
				if strings.ContainsFunc(l, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
					t.Errorf("%v: a line steers the terminal: %q", args, l)
				}
				if n := cli.Columns(l); isText && n > width {
					t.Errorf("%v: a line has %d columns, more than %d: %q", args, n, width, l)
				}
			}
		}
	}
}

// The log of a trace's requests has the tokens that the provider reported, by conversation.
func TestRequestsOfATraceForCacheReport(t *testing.T) {
	log := program(t, nil, "", "trace", "--requests", wholeTrace)
	got := program(t, nil, log.out, "cache-report", "--json", "-")
	if got.code != cli.ExitDone {
		t.Fatalf("code %d, err %q", got.code, got.err)
	}
	var names []string
	requests, reported, breaks := 0, 0, 0
	for l := range strings.Lines(got.out) {
		var r measure.CacheReport
		if err := json.Unmarshal([]byte(l), &r); err != nil {
			t.Fatal(err)
		}
		names, requests, reported, breaks = append(names, r.Conversation), requests+r.Requests, reported+r.Reported.Prompt, breaks+len(r.Breaks)
	}
	if strings.Join(names, " ") != "s s//fork:reviewer#1" || requests != 4 || reported != 450 || breaks != 1 {
		t.Errorf("conversations %q, %d requests, %d tokens reported, %d breaks", names, requests, reported, breaks)
	}
}

func TestRequestsThatATraceDoesNotHave(t *testing.T) {
	lines := func(texts, message string) string {
		return `{"v":1,"event":"trace","seq":1,"schema":"satchel.trace/1","process":"p","part":1,"texts":"` + texts + `"}` + "\n" + message +
			`{"v":1,"event":"call","seq":3,"session":"s","turn":1,"call":1,"add":["m"]}` + "\n"
	}
	got := program(t, nil, lines("digests", `{"v":1,"event":"message","seq":2,"digest":"m","message":{"role":"user","bytes":3}}`+"\n"), "trace", "--requests", "-")
	if got.code != cli.ExitFailed || !strings.Contains(got.err, "texts: digests") || got.out != "" {
		t.Errorf("digests: code %d, out %q, err %q", got.code, got.out, got.err)
	}
	got = program(t, nil, lines("whole", ""), "trace", "--requests", "-")
	if got.code != cli.ExitDone || !strings.Contains(got.err, "1 request left out") || got.out != "" {
		t.Errorf("a lost message: code %d, out %q, err %q", got.code, got.out, got.err)
	}
}

// The table names at most 200 skills.
func TestUsageOfManySkills(t *testing.T) {
	var b strings.Builder
	for i := range 230 {
		fmt.Fprintf(&b, `{"v":1,"event":"loaded","seq":%d,"session":"s","turn":1,"call":1,"skill":"skill-%d","by":"model"}`+"\n", i+1, i)
	}
	var u tracelog.Usage
	got := program(t, nil, b.String(), "usage", "--json", "-")
	if err := json.Unmarshal([]byte(got.out), &u); err != nil || len(u.Skills) != 201 || u.Skills[200].Skill != "other" || u.Skills[200].Loaded.Model != 30 {
		t.Errorf("%d rows, %v", len(u.Skills), err)
	}
	if got := program(t, nil, b.String(), "usage", "-"); !strings.Contains(got.out, "fix, loaded and never used: ") || !strings.Contains(got.out, " more") {
		t.Errorf("the table:\n%s", got.out)
	}
}

// A trace of a chat that both frameworks hold gives the tokens of its requests in all forms.
func TestTraceOfAChat(t *testing.T) {
	skills := testSkills(t)
	each(t, func(t *testing.T, flags ...string) {
		dir := t.TempDir()
		file := filepath.Join(dir, "trace.jsonl")
		flags = append(flags, "--skills", skills, "--trace", file, "--trace-size", "4000", "--system", "You help.", "--mentions", "words")
		for range 2 { // two chats in one trace
			got := converse(t, satcheltest.Plan(
				satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("pdf", "references/forms.md"), satcheltest.Do("Read", map[string]any{"file_path": "é"})}, Answer: "I used pdf."},
				satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("xls")}, Answer: "zwei ☃"},
			), "", append(flags, "first", "use the pdf skill")...)
			if got.code != 0 {
				t.Fatalf("code %d, err %q", got.code, got.err)
			}
		}
		parts, err := filepath.Glob(file + "*")
		if err != nil || len(parts) < 2 {
			t.Fatalf("%d files, %v", len(parts), err)
		}
		slices.Reverse(parts)
		var s tracelog.Totals
		out := program(t, nil, "", append([]string{"trace", "--json"}, parts...)...)
		if err := json.Unmarshal([]byte(out.out), &s); err != nil || out.err != "" {
			t.Fatalf("%v, %q", err, out.err)
		}
		log := program(t, nil, "", append([]string{"trace", "--requests"}, parts...)...)
		report := program(t, nil, log.out, "cache-report", "--json", "-")
		tokens, requests, breaks := 0, 0, 0
		for l := range strings.Lines(report.out) {
			var r measure.CacheReport
			if err := json.Unmarshal([]byte(l), &r); err != nil {
				t.Fatal(err)
			}
			tokens, requests, breaks = tokens+r.Prompt, requests+r.Requests, breaks+len(r.Breaks)
		}
		if tokens != s.EstimatedTokens || requests != s.Calls || breaks != s.Breaks || s.Calls != 10 || s.Turns != 4 || s.Cut != 0 {
			t.Errorf("cache-report counts %d tokens, %d requests, %d breaks, the trace has %+v\n%s%s", tokens, requests, breaks, s, log.err, report.err)
		}
	})
}
