package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/measure"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

// The report adds up what the endpoint says of both conversations: one that loads the
// skill that it needs, and one that has all texts and docs from the beginning.
func TestTokenReport(t *testing.T) {
	skills := testSkills(t)
	for _, framework := range frameworks {
		t.Run(framework, func(t *testing.T) {
			plan := satcheltest.Plan(
				satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("pdf")}, Needs: []string{"BODY OF PDF"}, Answer: "one"},
				satcheltest.Turn{Answer: "two"},
			)
			n := 0
			script := func(r satcheltest.Request) satcheltest.Response {
				resp := plan(r)
				n++
				resp.Usage = &core.Usage{Prompt: 1000 * n, Cached: 10, Completion: n}
				return resp
			}
			args := []string{"token-report", "--framework", framework, "--skills", skills}
			got := converse(t, script, "", append(args, "--json", "first", "second")...)
			var report measure.TokenReport
			if err := json.Unmarshal([]byte(got.out), &report); err != nil || got.code != cli.ExitDone {
				t.Fatalf("%v: %s %s", err, got.out, got.err)
			}
			sums := measure.TokenReport{Model: "scripted", Skills: 3, Less: 3000, Runs: []measure.TokenRun{
				{Mode: "disclosure", Turns: 2, Answered: 2, Requests: 3, Prompt: 6000, Cached: 30, Completion: 6, Total: 6006},
				{Mode: "injected", Turns: 2, Answered: 2, Requests: 2, Prompt: 9000, Cached: 20, Completion: 9, Total: 9009},
			}}
			if !reflect.DeepEqual(report, sums) {
				t.Errorf("report %+v, want %+v", report, sums)
			}
			first, injected := got.requests[0].Messages[0].Text, got.requests[3].Messages[0].Text
			if strings.Contains(first, "BODY OF") || !strings.Contains(first, "available_skills") {
				t.Errorf("disclosure begins with %q", first)
			}
			for _, text := range []string{"BODY OF PDF", "DOC FORMS", "DOC NOTES", "BODY OF XLSX", "BODY OF 技能"} {
				if strings.Count(injected, text) != 1 {
					t.Errorf("injected has %q %d times", text, strings.Count(injected, text))
				}
			}
			if strings.Contains(injected, "available_skills") {
				t.Errorf("injected has the overview: %q", injected)
			}
			n = 0
			got = converse(t, script, "", append(args, "first")...)
			table := strings.Join(strings.Fields(got.out), " ")
			want := "mode requests prompt tokens cached completion total answered disclosure 2 3000 20 3 3003 1 of 1 injected 1 3000 10 3 3003 1 of 1 " +
				"3 skills: disclosure took 0 prompt tokens less, 0.0 % of those with everything injected"
			if got.code != cli.ExitDone || table != want {
				t.Errorf("%s\n%s", table, got.err)
			}
		})
	}
}

func TestTokenReportErrors(t *testing.T) {
	skills := testSkills(t)
	refuses := func(r satcheltest.Request) satcheltest.Response {
		if strings.Contains(r.Messages[0].Text, "BODY OF XLSX") {
			return satcheltest.Response{Status: 400, Err: "the context is too long"}
		}
		return satcheltest.Response{Text: "done"}
	}
	got := converse(t, refuses, "", "token-report", "--skills", skills, "--json", "first")
	var report measure.TokenReport
	if err := json.Unmarshal([]byte(got.out), &report); err != nil || got.code != cli.ExitFailed || report.Runs[1].Answered != 0 ||
		!strings.Contains(report.Runs[1].Error, "the context is too long") || report.Runs[0].Answered != 1 {
		t.Errorf("%v: %s %s", err, got.out, got.err)
	}
	got = converse(t, refuses, "", "token-report", "--skills", skills, "first")
	if got.code != cli.ExitFailed || !strings.Contains(got.out, "not every turn was answered") {
		t.Errorf("%s %s", got.out, got.err)
	}
	silent := func(satcheltest.Request) satcheltest.Response {
		return satcheltest.Response{Text: "done", Usage: &core.Usage{}}
	}
	if got := converse(t, silent, "", "token-report", "--skills", skills, "first"); got.code != cli.ExitFailed || !strings.Contains(got.err, "reports no usage") {
		t.Errorf("%s %s", got.out, got.err)
	}
	for _, args := range [][]string{{"token-report", "--skills", skills}, {"token-report", "--approve", "ask", "--skills", skills, "x"}} {
		if got := converse(t, silent, "", args...); got.code != cli.ExitUsage || len(got.requests) > 0 {
			t.Errorf("%v: %d %s", args, got.code, got.err)
		}
	}
}
