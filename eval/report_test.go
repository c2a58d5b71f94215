package eval

import (
	"encoding/json"
	"encoding/xml"
	"reflect"
	"strings"
	"testing"
)

func ptr[T any](v T) *T { return &v }

func found(skill, query string, should bool, rank int, suggested bool, above ...Above) QueryResult {
	return QueryResult{Skill: skill, Query: query, ShouldTrigger: should, Found: &Found{Rank: rank, Suggested: suggested, Above: above}}
}

func tried(query string, should bool, runs, triggered, failed int, rate *float64, pass bool) QueryResult {
	return QueryResult{Skill: "pdf", Query: query, ShouldTrigger: should, Trials: &Trials{Runs: runs, Triggered: triggered, Errors: failed, Rate: rate, Pass: pass}}
}

func TestCompare(t *testing.T) {
	passed := func(rate *float64) []Comparison {
		return []Comparison{{Skill: "pdf", ID: "1", With: Side{PassRate: rate}}}
	}
	tests := map[string]struct {
		was, is Report
		want    []Change
	}{
		"offline": {
			Report{Mode: Offline, Queries: []QueryResult{
				found("pdf", "up", true, 3, false), found("pdf", "lost", true, 1, true), found("pdf", "new", true, 0, false),
				found("pdf", "same", true, 2, true), found("pdf", "not", false, 1, true), found("pdf", "gone", true, 1, true),
			}},
			Report{Mode: Offline, Queries: []QueryResult{
				found("pdf", "up", true, 1, false), found("pdf", "lost", true, 0, true), found("pdf", "new", true, 4, false),
				found("pdf", "same", true, 2, false), found("pdf", "not", false, 2, false), found("pdf", "only here", true, 1, true),
			}},
			[]Change{
				{Skill: "pdf", Query: "up", Was: 3, Is: 1, Change: "better"}, {Skill: "pdf", Query: "lost", Was: 1, Is: 0, Change: "worse"},
				{Skill: "pdf", Query: "new", Was: 0, Is: 4, Change: "better"}, {Skill: "pdf", Query: "not", Was: 1, Is: 0, Change: "better"},
			},
		},
		"trigger": {
			Report{Mode: Trigger, Queries: []QueryResult{
				tried("a", true, 4, 1, 0, ptr(0.25), false), tried("b", false, 4, 1, 0, ptr(0.25), true), tried("c", true, 4, 0, 4, nil, false),
			}},
			Report{Mode: Trigger, Queries: []QueryResult{
				tried("a", true, 4, 4, 0, ptr(1.0), true), tried("b", false, 4, 2, 0, ptr(0.5), false), tried("c", true, 4, 4, 0, ptr(1.0), true),
			}},
			[]Change{{Skill: "pdf", Query: "a", Was: 0.25, Is: 1, Change: "better"}, {Skill: "pdf", Query: "b", Was: 0.25, Is: 0.5, Change: "worse"}},
		},
		"outcome": {
			Report{Mode: Outcome, Evals: passed(ptr(1.0))}, Report{Mode: Outcome, Evals: passed(ptr(0.5))},
			[]Change{{Skill: "pdf", ID: "1", Was: 1, Is: 0.5, Change: "worse"}},
		},
		"nothing to compare": {Report{Mode: Outcome, Evals: passed(nil)}, Report{Mode: Outcome, Evals: passed(ptr(0.5))}, []Change{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(test.was)
			if err != nil {
				t.Fatal(err)
			}
			before := new(Report)
			if err := json.Unmarshal(text, before); err != nil { // as a file is read
				t.Fatal(err)
			}
			if err := test.is.Compare(before); err != nil || !reflect.DeepEqual(test.is.Changes, test.want) {
				t.Errorf("error %v, changes %+v\nwant %+v", err, test.is.Changes, test.want)
			}
		})
	}
	if err := (&Report{Mode: Offline}).Compare(&Report{Mode: Trigger}); err == nil || !strings.Contains(err.Error(), `mode "trigger"`) {
		t.Errorf("another mode: %v", err)
	}
}

func TestBelow(t *testing.T) {
	offline := &Report{Mode: Offline,
		Skills: []SkillResult{
			{Skill: "pdf", Recall: &Recall{Queries: 2, Recall1: ptr(0.5)}}, {Skill: "docx", Recall: &Recall{Queries: 1}},
		},
		Queries: []QueryResult{found("pdf", "a", true, 1, true), found("pdf", "b", true, 2, true), found("docx", "c", false, 1, false)},
	}
	trigger := &Report{Mode: Trigger,
		Skills:  []SkillResult{{Skill: "pdf", Triggering: &Triggering{Trigger: Interval{Rate: ptr(0.7)}}}},
		Queries: []QueryResult{tried("a", true, 3, 3, 0, ptr(1.0), true), tried("b", true, 3, 0, 0, ptr(0.0), false), tried("c", true, 3, 0, 3, nil, false)},
	}
	outcome := &Report{Mode: Outcome, Evals: []Comparison{
		{Skill: "pdf", With: Side{PassRate: ptr(1.0)}}, {Skill: "pdf", With: Side{PassRate: ptr(0.5)}}, {Skill: "docx"},
	}}
	tests := map[string]struct {
		report        *Report
		trigger, pass *float64
		want          []string
	}{
		"no minimum":      {offline, nil, nil, nil},
		"at the minimum":  {offline, ptr(0.5), ptr(0.5), nil},
		"recall":          {offline, ptr(0.6), nil, []string{"pdf: recall at 1 is 0.5, less than 0.6"}},
		"offline queries": {offline, nil, ptr(0.75), []string{"pdf: the share of queries that pass is 0.5, less than 0.75"}},
		"trigger":         {trigger, ptr(0.8), nil, []string{"pdf: the rate of triggering is 0.7, less than 0.8"}},
		"queries":         {trigger, nil, ptr(0.6), []string{"pdf: the share of queries that pass is 0.5, less than 0.6"}},
		"outcome":         {outcome, nil, ptr(0.8), []string{"pdf: the mean pass rate is 0.75, less than 0.8"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.report.Below(test.trigger, test.pass); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestWriteJUnit(t *testing.T) {
	hostile := "a \"query\" <b>&amp;\x00\x1b]]> \u202e"
	report := &Report{Mode: Trigger,
		Queries: []QueryResult{
			tried(hostile, true, 3, 3, 0, ptr(1.0), true), tried("two", true, 3, 1, 0, ptr(0.3), false), tried("three", true, 3, 0, 3, nil, false),
			found("docx", "four", true, 2, false, Above{"pdf", []string{"form", "page", "merge", "fill"}}), found("docx", "five", false, 1, true),
			{Skill: "docx", Query: "hidden", ShouldTrigger: true, Hidden: "disable-model-invocation in SKILL.md", Trials: &Trials{Runs: 3, Rate: ptr(0.0)}},
		},
		Evals: []Comparison{
			{Skill: "pdf", ID: "six", With: Side{Trials: 3, PassRate: ptr(1.0), Assertions: []AssertionResult{{Assertion: "x", Passed: ptr(3), Decided: 3}, {Assertion: "judged twice", Passed: ptr(2), Decided: 2, Errors: 1}}}},
			{Skill: "pdf", ID: "seven", With: Side{Trials: 3, PassRate: ptr(0.5), Assertions: []AssertionResult{{Assertion: "file:out/*", Passed: ptr(1), Decided: 3}}}},
			{Skill: "pdf", ID: "eight", With: Side{}},
			{Skill: "pdf", ID: "nine", With: Side{Trials: 3, Assertions: []AssertionResult{{Assertion: "a sentence"}}}},
			{Skill: "pdf", ID: "ten", With: Side{Trials: 3, Assertions: []AssertionResult{{Assertion: "a sentence", Errors: 3}}}},
		},
	}
	var b strings.Builder
	if err := report.WriteJUnit(&b); err != nil {
		t.Fatal(err)
	}
	var got junitSuites
	if err := xml.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatalf("%v:\n%s", err, b.String())
	}
	if got.Tests != 11 || got.Failures != 5 || got.Errors != 3 || len(got.Suites) != 2 || got.Suites[0].Name != "pdf" || got.Suites[0].Skipped != 1 {
		t.Errorf("tests %d, failures %d, errors %d:\n%s", got.Tests, got.Failures, got.Errors, b.String())
	}
	want := map[string]string{
		strings.NewReplacer("\x00", "\ufffd", "\x1b", "\ufffd").Replace(hostile): "",
		"two":   "loaded in 1 of 3",
		"three": "error: no trial of 3 ran without an error",
		"four":  "rank 2 after pdf (form, page, merge)",
		"five":  "suggested by meaning: no word is shared",
		"six":   "",
		"seven": "file:out/*: 1 of 3",
		"eight": "error: no trial ran without an error",
		"nine":  "skipped: no assertion has a verdict",
		"ten":   "error: the judge has failed",

		"hidden": "hidden from the model: disable-model-invocation in SKILL.md",
	}
	for _, s := range got.Suites {
		for _, c := range s.Cases {
			result := ""
			switch {
			case c.Error != nil:
				result = "error: " + c.Error.Message
			case c.Failure != nil:
				result = c.Failure.Message
			case c.Skipped != nil:
				result = "skipped: " + c.Skipped.Message
			}
			if wanted, ok := want[c.Name]; !ok || result != wanted || c.Class != s.Name {
				t.Errorf("%s: case %q of %q: %q, want %q", s.Name, c.Name, c.Class, result, wanted)
			}
		}
	}
}
