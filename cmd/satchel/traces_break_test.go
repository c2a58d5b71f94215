package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/measure"
	"github.com/satchel-go/satchel/internal/tracing/tracelog"
	"github.com/satchel-go/satchel/satcheltest"
)

// Prefix breaks and forks of a trace are those that cache-report finds in its requests.
func TestTraceOfAChatWithBreaks(t *testing.T) {
	each(t, func(t *testing.T, flags ...string) {
		file := filepath.Join(t.TempDir(), "trace.jsonl")
		agent := satcheltest.Plan(
			satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("pdf"), satcheltest.Do("skill_load", map[string]any{"skill": "report"})}, Answer: "one"},
			satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("pdf")}, Answer: "two"},
		)
		other := satcheltest.Plan(satcheltest.Turn{Answer: "42"})
		got := converse(t, func(r satcheltest.Request) satcheltest.Response {
			if r.Contains("Reads PDF files.") {
				return agent(r)
			}
			return other(r)
		}, "", append(flags, "--skills", forkingSkills(t), "--skills", testSkills(t), "--fork", "declared", "--load-mode", "once", "--trace", file, "go", "on")...)
		if got.code != 0 {
			t.Fatalf("code %d, err %q", got.code, got.err)
		}
		s := checkBreaks(t, file)
		if s.Calls != len(got.requests) || s.Turns != 2 || s.Sessions != 1 || s.Breaks == 0 {
			t.Errorf("%d requests, the trace has %+v", len(got.requests), s)
		}
	})
}

// Where another process goes on with a conversation, the trace has the breaks too, although neither process has seen
// both requests.
func TestTraceOfAResumedChatWithBreaks(t *testing.T) {
	each(t, func(t *testing.T, flags ...string) {
		dir, store := t.TempDir()+"/", t.TempDir()
		script := satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("pdf")}, Answer: "one"}, satcheltest.Turn{Answer: "two"}, satcheltest.Turn{Answer: "three"})
		for _, system := range []string{"Be brief.", "Be brief.", "Be long."} { // the second chat clears the text of the skill
			got := converse(t, script, "", append(flags, "--skills", testSkills(t), "--load-mode", "turn", "--store", store, "--resume", "talk", "--system", system, "--trace", dir, "go on")...)
			if got.code != 0 {
				t.Fatalf("code %d, err %q", got.code, got.err)
			}
		}
		if s := checkBreaks(t, dir); s.Calls != 4 || s.Turns != 3 || s.Sessions != 1 || s.Breaks != 2 {
			t.Errorf("the trace has %+v", s)
		}
		if shown := program(t, nil, "", "trace", dir); !strings.Contains(shown.out, "again: turn\n") || !strings.Contains(shown.out, "again: host\n") {
			t.Errorf("the causes are not those of a load that ended and of another system text:\n%s", shown.out)
		}
	})
}

// checkBreaks returns the totals of a trace, after it has compared them with those that cache-report finds in its
// requests.
func checkBreaks(t *testing.T, file string) (s tracelog.Totals) {
	t.Helper()
	if out := program(t, nil, "", "trace", "--json", file); json.Unmarshal([]byte(out.out), &s) != nil || out.err != "" {
		t.Fatalf("out %q, err %q", out.out, out.err)
	}
	report := program(t, nil, program(t, nil, "", "trace", "--requests", file).out, "cache-report", "--json", "-")
	tokens, breaks, reported, cached := 0, 0, 0, 0
	for l := range strings.Lines(report.out) {
		var r measure.CacheReport
		if err := json.Unmarshal([]byte(l), &r); err != nil {
			t.Fatal(err)
		}
		tokens, breaks, reported, cached = tokens+r.Prompt, breaks+len(r.Breaks), reported+r.Reported.Prompt, cached+r.Reported.Cached
	}
	if tokens != s.EstimatedTokens || breaks != s.Breaks || reported != s.PromptTokens || cached != s.CachedTokens {
		t.Errorf("cache-report counts %d tokens, %d breaks, %d reported and %d cached, the trace has %+v", tokens, breaks, reported, cached, s)
	}
	return s
}
