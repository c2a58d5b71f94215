package eval_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/eval"
	"github.com/satchel-go/satchel/loadmode"
)

// skillsOf opens a catalog of the skills pdf and docx, with files in the folder of pdf.
func skillsOf(t *testing.T, files map[string]string) *catalog.Catalog {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{
		"pdf/SKILL.md":  "---\nname: pdf\ndescription: Fills forms.\n---\nRead the form.\n",
		"docx/SKILL.md": "---\nname: docx\ndescription: Writes letters.\n---\nUse a template.\n",
	}
	for name, text := range files {
		all["pdf/"+name] = text
	}
	for name, text := range all {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	skills, err := catalog.Open(t.Context(), []source.Root{source.Dir(dir)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { skills.Close() })
	return skills
}

var queries = &eval.Suite{Queries: []eval.Query{
	{Skill: "pdf", Query: "fill the form", ShouldTrigger: true},
	{Skill: "pdf", Query: "sometimes", ShouldTrigger: true},
	{Skill: "pdf", Query: "write a letter", ShouldTrigger: false},
	{Skill: "docx", Query: "broken", ShouldTrigger: true},
}}

// loads plays trials: the form loads pdf, the letter docx and pdf, "sometimes" the first time, and
// "broken" fails.
func loads(_ context.Context, t eval.Trial) (eval.Played, error) {
	p := eval.Played{Requests: 2, Usage: core.Usage{Prompt: 100, Cached: 40, Completion: 10}}
	switch t.Prompt() {
	case "fill the form":
		p.Loaded = []string{"pdf"}
	case "sometimes", "sometimes not":
		if t.Number == 1 {
			p.Loaded = []string{"pdf"}
		}
	case "write a letter":
		p.Loaded = []string{"docx", "pdf"}
	default:
		p.Requests = 1
		return p, errors.New("the endpoint is down")
	}
	return p, nil
}

func show(v *float64) string {
	if v == nil {
		return "null"
	}
	return fmt.Sprintf("%.3f", *v)
}

func TestTrigger(t *testing.T) {
	report, err := eval.Run(t.Context(), queries, eval.Options{Mode: eval.Trigger, Catalog: skillsOf(t, nil), Play: loads, Jobs: 3})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, q := range report.Queries {
		got = append(got, fmt.Sprintf("%s: %d runs, %d triggered, %d errors, rate %s, pass %v, loaded %v", q.Query, q.Runs, q.Triggered, q.Errors, show(q.Rate), q.Pass, q.Loaded))
	}
	for _, s := range report.Skills {
		got = append(got, fmt.Sprintf("%s: %d of %d, %s (%s to %s); false %d of %d, %s (%s to %s); errors %d", s.Skill,
			s.Trigger.Triggered, s.Trigger.Runs, show(s.Trigger.Rate), show(s.Trigger.Low), show(s.Trigger.High),
			s.False.Triggered, s.False.Runs, show(s.False.Rate), show(s.False.Low), show(s.False.High), s.Errors))
	}
	got = append(got, fmt.Sprint(*report.Spent, report.Stopped))
	want := []string{
		"fill the form: 3 runs, 3 triggered, 0 errors, rate 1.000, pass true, loaded map[pdf:3]",
		"sometimes: 3 runs, 1 triggered, 0 errors, rate 0.333, pass false, loaded map[pdf:1]",
		"write a letter: 3 runs, 3 triggered, 0 errors, rate 1.000, pass false, loaded map[docx:3 pdf:3]",
		"broken: 3 runs, 0 triggered, 3 errors, rate null, pass false, loaded map[]",
		"pdf: 4 of 6, 0.667 (0.300 to 0.903); false 3 of 3, 1.000 (0.439 to 1.000); errors 0",
		"docx: 0 of 3, null (null to null); false 0 of 0, null (null to null); errors 3",
		"{21 1200 480 120}",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Below the threshold a false query passes, and a true one from it on.
func TestThreshold(t *testing.T) {
	suite := &eval.Suite{Queries: []eval.Query{{Skill: "pdf", Query: "sometimes", ShouldTrigger: true}, {Skill: "pdf", Query: "sometimes not"}}}
	for threshold, want := range map[float64][2]bool{0.5: {true, false}, 0.51: {false, true}} {
		report, err := eval.Run(t.Context(), suite, eval.Options{Mode: eval.Trigger, Catalog: skillsOf(t, nil), Play: loads, Runs: 2, Threshold: threshold})
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]bool{report.Queries[0].Pass, report.Queries[1].Pass}; got != want {
			t.Errorf("threshold %g: pass %v, want %v", threshold, got, want)
		}
	}
}

// A query that a skill has twice is asked once, and one of two skills for each of them.
func TestQueriesThatAreThereTwice(t *testing.T) {
	skills := skillsOf(t, nil)
	suite := &eval.Suite{Queries: []eval.Query{
		{Skill: "pdf", Query: "x", ShouldTrigger: true, From: "a.json: [0]"}, {Skill: "docx", Query: "x"}, {Skill: "pdf", Query: "x", ShouldTrigger: true},
	}}
	var mu sync.Mutex
	seen := map[string]bool{}
	play := func(_ context.Context, trial eval.Trial) (eval.Played, error) {
		mu.Lock()
		defer mu.Unlock()
		if seen[trial.Name()] || strings.ContainsAny(trial.Name(), "/. ") {
			t.Errorf("trial %s", trial.Name())
		}
		seen[trial.Name()] = true
		return eval.Played{}, nil
	}
	report, err := eval.Run(t.Context(), suite, eval.Options{Mode: eval.Trigger, Catalog: skills, Play: play})
	if err != nil || len(seen) != 6 || len(report.Queries) != 2 || len(suite.Queries) != 3 {
		t.Errorf("%d trials, %+v, %v", len(seen), report, err)
	}
	suite.Queries = append(suite.Queries, eval.Query{Skill: "pdf", Query: "x", From: "b.json: [7]"})
	for _, mode := range []eval.Mode{eval.Offline, eval.Trigger} {
		_, err = eval.Run(t.Context(), suite, eval.Options{Mode: mode, Catalog: skills, Play: play})
		if want := `b.json: [7]: should_trigger: is false for "x": it is true in a.json: [0]`; !errors.Is(err, eval.ErrSuite) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", mode, err, want)
		}
	}
}

// Nothing is played about a skill that the model does not see, and the report says why.
func TestHiddenSkills(t *testing.T) {
	const hidden = "---\nname: %s\ndescription: Fills forms.\n%s---\nText.\n"
	skills := skillsOf(t, map[string]string{
		"../front/SKILL.md":           fmt.Sprintf(hidden, "front", "disable-model-invocation: true\n"),
		"../agent/SKILL.md":           fmt.Sprintf(hidden, "agent", ""),
		"../agent/agents/openai.yaml": "policy: {allow_implicit_invocation: false}\n",
		"../both/SKILL.md":            fmt.Sprintf(hidden, "both", "disable-model-invocation: true\n"),
		"../both/agents/openai.yaml":  "policy: {allow_implicit_invocation: false}\n",
		"../unprintable/SKILL.md":     fmt.Sprintf(hidden, `"unprint\u202eable"`, ""),
	})
	unprintable := ""
	for _, skill := range skills.Snapshot().Skills() {
		if strings.HasPrefix(skill.Name, "unprint") {
			unprintable = skill.Name
		}
	}
	const front, agent = "disable-model-invocation in SKILL.md", "policy.allow_implicit_invocation in agents/openai.yaml"
	want := map[string]string{"front": front, "agent": agent, "both": front + ", and " + agent, unprintable: "the name in SKILL.md holds invisible characters", "pdf": ""}
	suite := new(eval.Suite)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		suite.Queries = append(suite.Queries, eval.Query{Skill: name, Query: "fill the form", ShouldTrigger: true}, eval.Query{Skill: name, Query: "write a letter"})
	}
	least := 0.1
	for _, mode := range []eval.Mode{eval.Offline, eval.Trigger} {
		play := func(ctx context.Context, trial eval.Trial) (eval.Played, error) {
			if trial.Skill() != "pdf" {
				t.Errorf("%s was played", trial.Skill())
			}
			return loads(ctx, trial)
		}
		report, err := eval.Run(t.Context(), suite, eval.Options{Mode: mode, Catalog: skills, Play: play})
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range report.Queries {
			isBad := q.Skill != "pdf" && q.ShouldTrigger
			if q.Hidden != want[q.Skill] || isBad && q.Reason() != "hidden from the model: "+q.Hidden {
				t.Errorf("%s: %s: hidden %q (%s), want %q", mode, q.Skill, q.Hidden, q.Reason(), want[q.Skill])
			}
			if q.Trials != nil && q.Skill != "pdf" && (q.Runs != 3 || q.Triggered != 0 || q.Rate == nil || *q.Rate != 0 || q.Pass == q.ShouldTrigger) {
				t.Errorf("%s: %+v", q.Skill, q.Trials)
			}
			if q.Trials != nil && q.Skill == "pdf" && q.Triggered != 3 {
				t.Errorf("%s: %+v", q.Query, q.Trials)
			}
			if fails := slices.ContainsFunc(report.Failing(), func(f eval.QueryResult) bool { return f.Skill == q.Skill && f.Query == q.Query }); isBad && !fails {
				t.Errorf("%s: %s does not fail", mode, q.Skill)
			}
		}
		for _, s := range report.Skills {
			if s.Hidden != want[s.Skill] {
				t.Errorf("%s: %s: hidden %q", mode, s.Skill, s.Hidden)
			}
		}
		if below := report.Below(&least, nil); len(below) != 4 {
			t.Errorf("%s: below the minimum: %v", mode, below)
		}
		if report.Spent != nil && report.Requests != 12 {
			t.Errorf("%d requests", report.Requests)
		}
	}
	suite.Evals = []eval.Eval{{Skill: "front", ID: "1", Prompt: "x"}}
	play := func(_ context.Context, trial eval.Trial) (eval.Played, error) {
		if trial.Loaded == trial.Without {
			t.Errorf("without %v, loaded %v", trial.Without, trial.Loaded)
		}
		return eval.Played{}, nil
	}
	report, err := eval.Run(t.Context(), suite, eval.Options{Mode: eval.Outcome, Catalog: skills, Play: play})
	if err != nil || report.Evals[0].Hidden != front || report.Evals[0].With.Trials != 3 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestMaxCost(t *testing.T) {
	o := eval.Options{Mode: eval.Trigger, Catalog: skillsOf(t, nil), Play: loads, MaxCost: 200, Prices: loadmode.Prices{Read: 0.5, Write: 1}}
	var last [2]int
	o.Progress = func(done, total int) { last = [2]int{done, total} }
	report, err := eval.Run(t.Context(), queries, o)
	if err != nil {
		t.Fatal(err)
	}
	// A trial costs 40*0.5 + 60 = 80, so the third is the last.
	if report.Stopped != "max-cost" || report.Requests != 6 || report.Queries[3].Runs != 0 || last != [2]int{3, 12} {
		t.Errorf("stopped %q, %d requests, %+v, progress %v", report.Stopped, report.Requests, report.Queries[3], last)
	}
}

func TestStateGoesOn(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.jsonl")
	ctx, cancel := context.WithCancel(t.Context())
	var played atomic.Int64
	o := eval.Options{Mode: eval.Trigger, Catalog: skillsOf(t, nil), State: state, About: "model a"}
	o.Play = func(ctx context.Context, trial eval.Trial) (eval.Played, error) {
		if played.Add(1) == 6 {
			cancel()
			return eval.Played{}, ctx.Err()
		}
		return loads(ctx, trial)
	}
	report, err := eval.Run(ctx, queries, o)
	if err != nil || report.Stopped != "interrupted" {
		t.Fatalf("stopped %q, %v", report.Stopped, err)
	}
	data, err := os.ReadFile(state)
	if err != nil || strings.Count(string(data), "\n") != 4 { // not of the failed and of the cancelled trial
		t.Fatalf("%s, %v", data, err)
	}
	cut := string(data[:len(data)-10]) // as a process that was killed leaves it
	if err := os.WriteFile(state, []byte(cut), 0o600); err != nil {
		t.Fatal(err)
	}
	again := func(about string) (*eval.Report, int64) {
		t.Helper()
		played.Store(100)
		o.About = about
		report, err := eval.Run(t.Context(), queries, o)
		if err != nil {
			t.Fatal(err)
		}
		return report, played.Load() - 100
	}
	report, n := again("model a")
	if n != 9 || report.Queries[0].Triggered != 3 || report.Requests != 21 || report.PromptTokens != 1200 || report.Stopped != "" {
		t.Errorf("%d trials were played, %+v, %+v", n, report.Queries[0].Trials, report.Spent)
	}
	if _, n := again("model a"); n != 3 { // the failed ones again
		t.Errorf("%d trials were played, want 3", n)
	}
	if _, n := again("model b"); n != 12 {
		t.Errorf("%d trials were played, want 12", n)
	}
	if err := os.WriteFile(state, []byte(`{"v":2,"trial":"x"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := eval.Run(t.Context(), queries, o); err == nil || !strings.Contains(err.Error(), "version") || !strings.Contains(err.Error(), state) {
		t.Errorf("error %v", err)
	}
}

func TestOutcome(t *testing.T) {
	skills := skillsOf(t, map[string]string{"evals/files/form.txt": "name:"})
	suite := &eval.Suite{Evals: []eval.Eval{{
		Skill: "pdf", ID: "1", Prompt: "fill it", ExpectedOutput: "a filled form", Files: []string{"evals/files/form.txt"},
		Assertions: []string{"file:out/*.txt", "exit:0", "The name is filled in", "The tone is friendly", "The form is signed"},
	}}}
	ended := 0
	o := eval.Options{Mode: eval.Outcome, Catalog: skills, Runs: 2, Prices: loadmode.Prices{Read: 0, Write: 2}}
	o.Play = func(_ context.Context, trial eval.Trial) (eval.Played, error) {
		dir := t.TempDir()
		p := eval.Played{Answer: "Done.", Workspace: dir, Requests: 1, Usage: core.Usage{Prompt: 50, Completion: 5}, End: func() error { ended++; return nil }}
		if len(trial.Inputs) != 1 || trial.Inputs[0].Name != "form.txt" || string(trial.Inputs[0].Data) != "name:" {
			t.Errorf("inputs %v", trial.Inputs)
		}
		if trial.Without {
			return p, nil
		}
		p.Usage.Prompt, p.ExitCode = 150, new(int)
		if err := os.Mkdir(filepath.Join(dir, "out"), 0o700); err != nil {
			return p, err
		}
		return p, os.WriteFile(filepath.Join(dir, "out", "form.txt"), []byte("name:  Ann\nSmith"), 0o600)
	}
	o.Judge = func(_ context.Context, q eval.Question) (eval.Played, error) {
		said := eval.Played{Requests: 1, Usage: core.Usage{Prompt: 7}}
		if !strings.Contains(q.Text, q.Trial.Eval.Assertions[q.Assertion]) || !strings.Contains(q.Text, "a filled form") || !strings.Contains(q.System, `"pass"`) {
			t.Errorf("question %s: %s", q.Name(), q.Text)
		}
		switch q.Assertion {
		case 2:
			said.Answer = "```json\n{\"pass\": true, \"quote\": \"name: Ann Smith\"}\n```"
		case 3:
			said.Answer = `{"pass": true, "quote": "Dear Ann"}`
		default:
			said.Answer = "I cannot say {x}."
		}
		return said, nil
	}
	report, err := eval.Run(t.Context(), suite, o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	e := report.Evals[0]
	for name, side := range map[string]eval.Side{"with": e.With, "without": e.Without} {
		got = append(got, fmt.Sprintf("%s: %d trials, rate %s, tokens %g, cost %g", name, side.Trials, show(side.PassRate), side.Tokens, side.Cost))
		for _, a := range side.Assertions {
			passed := "null"
			if a.Passed != nil {
				passed = fmt.Sprint(*a.Passed)
			}
			got = append(got, fmt.Sprintf("%s: %s %q %s: %s", name, a.Kind, a.Assertion, passed, a.Evidence))
		}
	}
	slices.Sort(got)
	got = append(got, fmt.Sprintf("difference %s, %g, %g", show(e.Difference.PassRate), *e.Difference.Tokens, *e.Difference.Cost), fmt.Sprint(*report.Spent, ended))
	want := []string{
		`with: 2 trials, rate 0.750, tokens 155, cost 300`,
		`with: check "exit:0" 2: the last command ended with exit code 0`,
		`with: check "file:out/*.txt" 2: out/form.txt (16 bytes)`,
		`with: judge "The form is signed" null: the judge has answered no verdict: I cannot say {x}.`,
		`with: judge "The name is filled in" 2: name: Ann Smith`,
		`with: judge "The tone is friendly" 0: the quote is neither in the answer nor in the files: Dear Ann`,
		`without: 2 trials, rate 0.000, tokens 55, cost 100`,
		`without: check "exit:0" 0: no command ran`,
		`without: check "file:out/*.txt" 0: no file matches`,
		`without: judge "The form is signed" null: the judge has answered no verdict: I cannot say {x}.`,
		`without: judge "The name is filled in" 0: the quote is neither in the answer nor in the files: name: Ann Smith`,
		`without: judge "The tone is friendly" 0: the quote is neither in the answer nor in the files: Dear Ann`,
		`difference 0.750, 100, 200`,
		`{16 484 0 20} 4`,
	}
	slices.Sort(want[:12])
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if e.With.MS < 0 || math.IsNaN(e.With.MS) {
		t.Errorf("%g ms", e.With.MS)
	}
}

// An error of the judge fails its sentence and not the trial, which is played again.
func TestJudgeFails(t *testing.T) {
	suite := &eval.Suite{Evals: []eval.Eval{{Skill: "pdf", ID: "1", Prompt: "x", Assertions: []string{"regex:yes", "It is good", "It is polite"}}}}
	var played, judged atomic.Int64
	o := eval.Options{Mode: eval.Outcome, Catalog: skillsOf(t, nil), Runs: 2, State: filepath.Join(t.TempDir(), "state")}
	o.Play = func(context.Context, eval.Trial) (eval.Played, error) {
		played.Add(1)
		return eval.Played{Answer: "yes", Requests: 1}, nil
	}
	o.Judge = func(_ context.Context, q eval.Question) (eval.Played, error) {
		said := eval.Played{Requests: 1, Answer: `{"pass": true, "quote": "yes"}`}
		if judged.Add(1) == 2 {
			return said, errors.New("the endpoint\nis down")
		}
		return said, nil
	}
	report, err := eval.Run(t.Context(), suite, o)
	if err != nil {
		t.Fatal(err)
	}
	with := report.Evals[0].With
	got := fmt.Sprintf("%d %d %s %d %d %d", with.Trials, with.Errors, show(with.PassRate), report.Errors(), report.JudgeErrors(), report.Requests)
	for _, a := range with.Assertions {
		got += fmt.Sprintf("; %s %d of %d, %d errors: %s", a.Assertion, *a.Passed, a.Decided, a.Errors, a.Evidence)
	}
	want := `2 0 1.000 0 1 12; regex:yes 2 of 2, 0 errors: the answer has "yes"; It is good 2 of 2, 0 errors: yes; It is polite 1 of 1, 1 errors: yes`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if report, err = eval.Run(t.Context(), suite, o); err != nil || played.Load() != 5 || report.JudgeErrors() != 0 {
		t.Errorf("%d trials were played, %v, %+v", played.Load(), err, report)
	}
	o.State, o.Judge = "", func(context.Context, eval.Question) (eval.Played, error) {
		return eval.Played{}, errors.New("the endpoint\nis down")
	}
	if report, err = eval.Run(t.Context(), suite, o); err != nil {
		t.Fatal(err)
	}
	if a := report.Evals[0].With.Assertions[1]; a.Passed != nil || a.Errors != 2 || a.Evidence != "the judge has failed: the endpoint is down" {
		t.Errorf("%+v", a)
	}
}

func TestOutcomeWithoutAJudge(t *testing.T) {
	suite := &eval.Suite{Evals: []eval.Eval{{Skill: "pdf", ID: "1", Prompt: "x", Assertions: []string{"It is good"}}, {Skill: "pdf", ID: "2", Prompt: "y", Assertions: []string{"regex:yes"}}}}
	o := eval.Options{Mode: eval.Outcome, Catalog: skillsOf(t, nil), Runs: 1}
	o.Play = func(_ context.Context, trial eval.Trial) (eval.Played, error) {
		if trial.Without && trial.Eval.ID == "2" {
			return eval.Played{}, errors.New("down")
		}
		return eval.Played{Answer: "yes"}, nil
	}
	report, err := eval.Run(t.Context(), suite, o)
	if err != nil {
		t.Fatal(err)
	}
	first, second := report.Evals[0], report.Evals[1]
	if first.With.PassRate != nil || first.With.Assertions[0].Passed != nil || first.Difference.PassRate != nil {
		t.Errorf("not judged: %+v", first.With)
	}
	if second.Without.Errors != 1 || second.Without.Trials != 0 || second.Without.PassRate != nil || show(second.With.PassRate) != "1.000" || second.Difference != (eval.Difference{}) {
		t.Errorf("failed: %+v, %+v", second.With, second.Without)
	}
	o.Play = func(context.Context, eval.Trial) (eval.Played, error) { return eval.Played{}, errors.New("down") }
	var cases strings.Builder
	if report, err = eval.Run(t.Context(), suite, o); err == nil {
		err = report.WriteJUnit(&cases)
	}
	if err != nil || report.Errors() != 4 || strings.Count(cases.String(), "<error ") != 2 || strings.Contains(cases.String(), "<skipped") {
		t.Errorf("%v, %d errors, %s", err, report.Errors(), cases.String())
	}
}

func TestWrongEvals(t *testing.T) {
	skills := skillsOf(t, map[string]string{"scripts/check.sh": "exit 0\n"})
	for name, test := range map[string]struct {
		eval eval.Eval
		want string
	}{
		"assertion": {eval.Eval{Skill: "pdf", From: "f.json: evals[0]", Assertions: []string{"ok", "regex:("}}, "f.json: evals[0].assertions[1]"},
		"script":    {eval.Eval{Skill: "pdf", From: "f.json: evals[0]", Assertions: []string{"regex:a", "script:scripts/none.sh"}}, "f.json: evals[0].assertions[1]"},
		"folder":    {eval.Eval{Skill: "pdf", From: "f.json: evals[0]", Assertions: []string{"script:scripts"}}, "f.json: evals[0].assertions[0]"},
		"file":      {eval.Eval{Skill: "pdf", From: "f.json: evals[0]", Files: []string{"none.txt"}}, "f.json: evals[0].files[0]"},
		"outside":   {eval.Eval{Skill: "pdf", From: "f.json: evals[0]", Files: []string{"../docx/SKILL.md"}}, "f.json: evals[0].files[0]"},
		"skill":     {eval.Eval{Skill: "xlsx", From: "f.json: evals[0]"}, "xlsx"},
	} {
		o := eval.Options{Mode: eval.Outcome, Catalog: skills, Play: func(context.Context, eval.Trial) (eval.Played, error) {
			t.Errorf("%s: something was played", name)
			return eval.Played{}, nil
		}}
		_, err := eval.Run(t.Context(), &eval.Suite{Evals: []eval.Eval{test.eval}}, o)
		if !errors.Is(err, eval.ErrSuite) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
	}
	for _, mode := range []eval.Mode{eval.Trigger, eval.Outcome} {
		if _, err := eval.Run(t.Context(), &eval.Suite{}, eval.Options{Mode: mode, Catalog: skills, Play: loads}); !errors.Is(err, eval.ErrSuite) {
			t.Errorf("%s: error %v", mode, err)
		}
	}
}

// A file that commands or checks of a skill use is part of what a trial of an outcome is about.
func TestStateKnowsTheFilesOfASkill(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, "pdf", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("SKILL.md", "---\nname: pdf\ndescription: Fills forms.\n---\nRun fill.sh.\n")
	write("fill.sh", "exit 0\n")
	write("evals/form.txt", "name:\n")
	write("evals/evals.json", `{"evals": [{"id": 1, "prompt": "x"}]}`)
	state := filepath.Join(t.TempDir(), "state")
	play := func(mode eval.Mode) (played int) {
		t.Helper()
		c, err := catalog.Open(t.Context(), []source.Root{source.Dir(dir)})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		suite := &eval.Suite{Queries: []eval.Query{{Skill: "pdf", Query: "x"}}, Evals: []eval.Eval{{Skill: "pdf", ID: "1", Prompt: "x", Files: []string{"evals/form.txt"}}}}
		o := eval.Options{Mode: mode, Catalog: c, Runs: 1, State: state}
		o.Play = func(context.Context, eval.Trial) (eval.Played, error) {
			played++
			return eval.Played{Answer: "yes"}, nil
		}
		if _, err := eval.Run(t.Context(), suite, o); err != nil {
			t.Fatal(err)
		}
		return played
	}
	for _, step := range []struct {
		file, text       string
		trigger, outcome int
	}{
		{"", "", 1, 2},
		{"fill.sh", "exit 1\n", 0, 2},
		{"evals/form.txt", "street:\n", 0, 2},
		{"evals/evals.json", `{"evals": [{"id": 2, "prompt": "y"}]}`, 0, 0},
		{"more.txt", "", 0, 2},
		{"SKILL.md", "---\nname: pdf\ndescription: Fills forms.\n---\nRun.\n", 1, 2},
	} {
		if step.file != "" {
			write(step.file, step.text)
		}
		if n := play(eval.Trigger); n != step.trigger {
			t.Errorf("after a change of %q: %d trials of mode trigger, want %d", step.file, n, step.trigger)
		}
		if n := play(eval.Outcome); n != step.outcome {
			t.Errorf("after a change of %q: %d trials of mode outcome, want %d", step.file, n, step.outcome)
		}
	}
}
