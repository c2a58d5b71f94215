package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/eval"
	"github.com/satchel-go/satchel/satcheltest"
)

// rivals are skills that share words. docx has a suite of true and false queries, and one of them is
// not found first.
func rivals(t *testing.T) string {
	t.Helper()
	return skillDir(t, map[string]string{
		"pdf/SKILL.md":  "---\nname: pdf\ndescription: Fills in PDF forms and merges pages.\n---\nText.\n",
		"docx/SKILL.md": "---\nname: docx\ndescription: Writes letters and forms as Word documents.\n---\nText.\n",
		"xlsx/SKILL.md": "---\nname: xlsx\ndescription: Sums up sales in spreadsheets and draws charts.\n---\nText.\n",
		"docx/evals/eval_queries.json": `[
			{"query": "write a letter to my landlord", "should_trigger": true},
			{"query": "fill in the PDF forms of my letter", "should_trigger": true},
			{"query": "knit a scarf", "should_trigger": true},
			{"query": "sum up the sales of this spreadsheet", "should_trigger": false},
			{"query": "write Word documents", "should_trigger": false}]`,
		"xlsx/eval_queries.yaml": "- query: draw a chart of sales\n  should_trigger: true\n- query: use the xlsx skill\n  should_trigger: true\n",
	})
}

// What eval says offline is what search and a chat with suggestions do.
func TestEvalOfflineAgreesWithSearchAndChat(t *testing.T) {
	skills := rivals(t)
	got := program(t, nil, "", "eval", "--skills", skills, "--json")
	if got.code != cli.ExitDone || got.err != "" {
		t.Fatalf("code %d, err %q", got.code, got.err)
	}
	report := reportOf(t, got)
	if report.Mode != eval.Offline || len(report.Queries) != 7 || report.Totals.Skills != 2 {
		t.Fatalf("report %s", got.out)
	}
	suggestion := regexp.MustCompile(`<skills_suggested>(.*?)</skills_suggested>`)
	for _, q := range report.Queries {
		var found struct {
			Hits       []struct{ Name string } `json:"hits"`
			LessLikely []string                `json:"less_likely"`
		}
		searched := program(t, nil, "", "search", "--skills", skills, "--json", "--", q.Query)
		if err := json.Unmarshal([]byte(searched.out), &found); err != nil {
			t.Fatal(err)
		}
		var order []string
		for _, hit := range found.Hits {
			order = append(order, hit.Name)
		}
		order = append(order, found.LessLikely...)
		if rank := slices.Index(order, q.Skill) + 1; q.Rank != rank {
			t.Errorf("%q: rank %d, but search finds it at %d", q.Query, q.Rank, rank)
		}
		var above []string
		for _, a := range q.Above {
			above = append(above, a.Skill)
			if len(a.Words) == 0 {
				t.Errorf("%q: %s stands above without a word", q.Query, a.Skill)
			}
		}
		want := order
		if q.Rank > 0 {
			want = order[:q.Rank-1]
		}
		if q.ShouldTrigger && !slices.Equal(above, want) || !q.ShouldTrigger && above != nil {
			t.Errorf("%q: above %q, want %q", q.Query, above, want)
		}
		chat := converse(t, satcheltest.Plan(satcheltest.Turn{Answer: "done"}), "", "chat", "--skills", skills, "--profile", "knowledge_only", "--activation", "suggest", "--", q.Query)
		if chat.code != cli.ExitDone || len(chat.requests) == 0 {
			t.Fatalf("chat: code %d, err %q", chat.code, chat.err)
		}
		isSuggested := false
		if match := suggestion.FindStringSubmatch(string(chat.requests[0].Prompt())); match != nil {
			isSuggested = slices.Contains(strings.Split(match[1], ", "), q.Skill)
		}
		if q.Suggested != isSuggested {
			t.Errorf("%q: suggested %v, but the chat suggests it: %v", q.Query, q.Suggested, isSuggested)
		}
	}
	if !strings.Contains(got.out, `"collisions":{"docx":{"pdf":1}}`) {
		t.Errorf("collisions of %s", got.out)
	}
}

func TestEvalTable(t *testing.T) {
	skills := rivals(t)
	got := program(t, nil, "", "eval", "--skills", skills)
	for _, want := range []string{
		"SKILL  QUERIES  FIRST  FIRST 5  FALSELY SUGGESTED\n", "docx   5        33 %   67 %     50 %\n", "xlsx   2        100 %  100 %    -\n",
		"(all)  7 ", "  docx: pdf 1\n", "  docx: knit a scarf\n    not found\n", "    rank 2 after pdf (pdf, fill)\n",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in:\n%s", want, got.out)
		}
	}
	hostile := filepath.Join(t.TempDir(), "s.json")
	long := strings.Repeat("long words ", 40)
	text, err := json.Marshal(map[string]any{"skill_name": "docx", "queries": []any{map[string]any{"query": "\x1b[31m\u202e" + long, "should_trigger": true}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hostile, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, got := range []outcome{
		program(t, nil, "", "eval", "--skills", skills, "--suite", hostile),
		onTerminal(t, 80, "eval", "--skills", skills, "--suite", hostile, "--color", "never"),
	} {
		if got.code != cli.ExitDone || strings.ContainsAny(got.out, "\x1b\u202e") {
			t.Errorf("code %d, out %q", got.code, got.out)
		}
		for line := range strings.Lines(got.out) {
			if n := cli.Columns(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%d columns: %q", n, line)
			}
		}
	}
}

func TestEvalExitCodes(t *testing.T) {
	skills, none := rivals(t), testSkills(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	tests := map[string]struct {
		args []string
		code int
		err  string
	}{
		"all was asked":         {[]string{"--skills", skills}, cli.ExitDone, ""},
		"with the verb":         {[]string{"run", "--skills", skills}, cli.ExitDone, ""},
		"above the minima":      {[]string{"--skills", skills, "--min-trigger", "0.3", "--min-pass", "0.3"}, cli.ExitDone, ""},
		"below --min-trigger":   {[]string{"--skills", skills, "--min-trigger", "0.5"}, cli.ExitFailed, "docx: recall at 1 is 0.333, less than 0.5"},
		"below --min-pass":      {[]string{"--skills", skills, "--min-pass", "0.5"}, cli.ExitFailed, "docx: the share of queries that pass is 0.4, less than 0.5"},
		"no suite":              {[]string{"--skills", none}, cli.ExitUsage, "satchel eval init SKILL"},
		"no directory":          {[]string{"--skills", filepath.Join(dir, "none")}, cli.ExitUsage, "none"},
		"init in none":          {[]string{"init", "--skills", filepath.Join(dir, "none"), "pdf"}, cli.ExitUsage, "none"},
		"no queries":            {[]string{"--skills", skills, "--suite", write("evals.json", `{"skill_name":"pdf","evals":[{"id":1,"prompt":"p"}]}`)}, cli.ExitUsage, "no queries"},
		"a wrong suite":         {[]string{"--skills", skills, "--suite", write("wrong.json", `{"skill_name":"pdf","queries":[{"query":"q"}]}`)}, cli.ExitUsage, "wrong.json: queries[0].should_trigger"},
		"an unknown skill":      {[]string{"--skills", skills, "--suite", write("other.json", `{"skill_name":"pfd","queries":[{"query":"q","should_trigger":true}]}`)}, cli.ExitUsage, "did you mean pdf?"},
		"no file":               {[]string{"--skills", skills, "--suite", filepath.Join(dir, "none.json")}, cli.ExitUsage, "none.json"},
		"no evals":              {[]string{"--skills", skills, "--mode", "outcome", "--model", "m"}, cli.ExitUsage, "it has no evals"},
		"a wrong assertion":     {[]string{"--skills", skills, "--mode", "outcome", "--model", "m", "--suite", write("regex.json", `{"skill_name":"pdf","evals":[{"id":1,"prompt":"p","assertions":["regex:("]}]}`)}, cli.ExitUsage, "regex.json: evals[0].assertions[0]"},
		"no model":              {[]string{"--skills", skills, "--mode", "trigger"}, cli.ExitUsage, "OPENAI_MODEL"},
		"no baseline":           {[]string{"--skills", skills, "--baseline", filepath.Join(dir, "none.json")}, cli.ExitUsage, "--baseline"},
		"a broken baseline":     {[]string{"--skills", skills, "--baseline", write("cut.json", `{"mode":`)}, cli.ExitUsage, "cut.json"},
		"of another mode":       {[]string{"--skills", skills, "--baseline", write("trigger.json", `{"mode":"trigger"}`)}, cli.ExitUsage, `mode "trigger": want "offline"`},
		"a report nowhere":      {[]string{"--skills", skills, "--junit", filepath.Join(dir, "none", "j.xml")}, cli.ExitUsage, "--junit"},
		"no trial":              {[]string{"--skills", skills, "-n", "0"}, cli.ExitUsage, "-n 0"},
		"no minimum":            {[]string{"--skills", skills, "--min-pass", "2"}, cli.ExitUsage, "--min-pass 2"},
		"no threshold":          {[]string{"--skills", skills, "--threshold", "NaN"}, cli.ExitUsage, "--threshold"},
		"triggers of outcomes":  {[]string{"--skills", skills, "--mode", "outcome", "--min-trigger", "1"}, cli.ExitUsage, "--min-trigger"},
		"an unknown mode":       {[]string{"--skills", skills, "--mode", "online"}, cli.ExitUsage, "--mode"},
		"init of a folder":      {[]string{"init", "--skills", skills, dir}, cli.ExitUsage, dir + " has no SKILL.md"},
		"init of an unknown":    {[]string{"init", "--skills", skills, "pdff"}, cli.ExitUsage, "pdff"},
		"init of one with them": {[]string{"init", "--skills", skills, "docx"}, cli.ExitFailed, "eval_queries.json exists: nothing was written"},
		"init of one with YAML": {[]string{"init", "--skills", skills, "xlsx"}, cli.ExitFailed, "eval_queries.yaml exists: nothing was written"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := program(t, map[string]string{"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, "", append([]string{"eval"}, test.args...)...)
			if got.code != test.code || !strings.Contains(got.err, test.err) || test.err == "" && got.err != "" {
				t.Errorf("code %d, err %q; want %d and %q", got.code, got.err, test.code, test.err)
			}
			if test.code == cli.ExitUsage && (got.out != "" || strings.Count(got.err, cli.ErrStart.Error()) > 1) {
				t.Errorf("out %q, err %q", got.out, got.err)
			}
		})
	}
}

func TestEvalReports(t *testing.T) {
	skills := rivals(t)
	junit, baseline := filepath.Join(t.TempDir(), "j.xml"), filepath.Join(t.TempDir(), "was.json")
	was := program(t, nil, "", "eval", "--skills", skills, "--json", "--junit", junit)
	if err := os.WriteFile(baseline, []byte(was.out), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(junit)
	if err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Suites []struct {
			Name  string `xml:"name,attr"`
			Cases []struct {
				Name    string    `xml:"name,attr"`
				Failure *struct{} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(text, &suites); err != nil || len(suites.Suites) != 2 || suites.Suites[0].Name != "docx" || len(suites.Suites[0].Cases) != 5 {
		t.Fatalf("error %v:\n%s", err, text)
	}
	for i, failed := range []bool{false, true, true, false, true} {
		if c := suites.Suites[0].Cases[i]; (c.Failure != nil) != failed {
			t.Errorf("%s: failed %v", c.Name, c.Failure != nil)
		}
	}
	// The author rewords the description.
	reworded := "---\nname: docx\ndescription: Writes letters as Word documents. Fills in forms of letters, PDF forms too.\n---\nText.\n"
	if err := os.WriteFile(filepath.Join(skills, "docx", "SKILL.md"), []byte(reworded), 0o600); err != nil {
		t.Fatal(err)
	}
	is := program(t, nil, "", "eval", "--skills", skills, "--baseline", baseline)
	if is.code != cli.ExitDone || !strings.Contains(is.out, "\nChanges since the baseline:\n  better: docx: 1, was 2: fill in the PDF forms of my letter\n") {
		t.Errorf("code %d, out:\n%s", is.code, is.out)
	}
	again := reportOf(t, program(t, nil, "", "eval", "--skills", skills, "--baseline", baseline, "--json"))
	if !slices.Equal(again.Changes, []eval.Change{{Skill: "docx", Query: "fill in the PDF forms of my letter", Was: 2, Is: 1, Change: "better"}}) {
		t.Errorf("changes %+v", again.Changes)
	}
	// Another skill takes its task.
	knits := "---\nname: docx\ndescription: Knits a scarf. Makes warm pullovers.\n---\nText.\n"
	writes := "---\nname: word\ndescription: Writes Word documents.\n---\nText.\n"
	for name, text := range map[string]string{"docx": knits, "word": writes} {
		if err := errors.Join(os.MkdirAll(filepath.Join(skills, name), 0o700), os.WriteFile(filepath.Join(skills, name, "SKILL.md"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	is = program(t, nil, "", "eval", "--skills", skills, "--baseline", baseline)
	for _, line := range []string{"better: docx: 1, was not found: knit a scarf\n", "better: docx: not suggested, was suggested: write Word documents\n"} {
		if !strings.Contains(is.out, line) {
			t.Errorf("no line %q in:\n%s", line, is.out)
		}
	}
}

// The tables, minima and JUnit of the modes that play conversations.
func TestEvalReportsOfTrials(t *testing.T) {
	skills := evalSkills(t)
	dir := t.TempDir()
	suite := filepath.Join(dir, "suite.yaml")
	const evals = "skill_name: pdf\nevals:\n- {id: 7, prompt: fill it in, files: [evals/form.txt], assertions: ['file:out/*.txt', 'regex:(?i)done', 'exit:0', A sentence]}\n"
	if err := os.WriteFile(suite, []byte(evals), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		script satcheltest.Script
		args   []string
		code   int
		out    []string
		err    string
		junit  []string
	}{
		"trigger": {
			triggering, []string{"--mode", "trigger", "--min-trigger", "0.7"}, cli.ExitFailed,
			[]string{
				"SKILL  TRIGGERED  RATE  95 %     FALSELY  ERRORS\npdf    4 of 6     67 %  30-90 %  0 of 2   2\n",
				"  pdf: other\n    loaded in 0 of 2, xlsx in 2\n", "  pdf: fail\n    no trial ran without an error\n",
				"18 requests, 1600 prompt tokens (800 cached), 160 completion tokens\n",
			},
			"pdf: the rate of triggering is 0.667, less than 0.7",
			[]string{`<testsuite name="pdf" tests="5" failures="1" errors="1" skipped="0">`, `<error message="no trial of 2 ran without an error">`},
		},
		"outcome": {
			doing, []string{"--mode", "outcome", "--min-pass", "0.9", "--suite", suite}, cli.ExitDone,
			[]string{"SKILL  EVAL  WITH   WITHOUT  TOKENS", "pdf    7     100 %  33 %     ", "  pdf 7: no verdict: A sentence\n"},
			"",
			[]string{`<testcase name="7" classname="pdf"></testcase>`},
		},
		"without the skill's help": {
			func(r satcheltest.Request) satcheltest.Response { return satcheltest.Response{Text: "No."} },
			[]string{"--mode", "outcome", "--min-pass", "0.9", "--suite", suite}, cli.ExitFailed,
			[]string{"pdf    7     0 %   0 %", "  pdf 7: 0 of 2: exit:0\n"},
			"pdf: the mean pass rate is 0, less than 0.9",
			[]string{`failures="1"`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			junit := filepath.Join(dir, test.args[1]+".xml")
			got := converse(t, test.script, "", append([]string{"eval", "--skills", skills, "--executor", "local", "-n", "2", "--junit", junit}, test.args...)...)
			if got.code != test.code || !strings.Contains(got.err, test.err) {
				t.Errorf("code %d, err %q", got.code, got.err)
			}
			for _, want := range test.out {
				if !strings.Contains(got.out, want) {
					t.Errorf("no %q in:\n%s", want, got.out)
				}
			}
			text, err := os.ReadFile(junit)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.junit {
				if !strings.Contains(string(text), want) {
					t.Errorf("no %q in:\n%s", want, text)
				}
			}
		})
	}
}

func TestEvalProgressIsForTerminals(t *testing.T) {
	skills := rivals(t)
	got := onTerminal(t, 80, "eval", "--skills", skills)
	if got.code != cli.ExitDone || !strings.Contains(got.err, "\r 1 of 7\r 2 of 7") || !strings.HasSuffix(got.err, "\r 7 of 7\r\x1b[K") {
		t.Errorf("code %d, err %q", got.code, got.err)
	}
}

func TestEvalInit(t *testing.T) {
	skills := testSkills(t)
	for _, skill := range []string{"pdf", filepath.Join(skills, "xlsx"), "技能"} {
		args := []string{"eval", "init", "--skills", skills, "--json", skill}
		got := program(t, nil, "", args...)
		var written struct {
			Skill string
			Files []string
		}
		if err := json.Unmarshal([]byte(got.out), &written); err != nil || got.code != cli.ExitDone || len(written.Files) != 2 {
			t.Fatalf("%s: code %d, out %q, err %q", skill, got.code, got.out, got.err)
		}
		before, err := os.ReadFile(written.Files[1])
		if err != nil {
			t.Fatal(err)
		}
		if again := program(t, nil, "", args...); again.code != cli.ExitFailed || !strings.Contains(again.err, "nothing was written") {
			t.Errorf("%s again: code %d, err %q", skill, again.code, again.err)
		}
		if after, err := os.ReadFile(written.Files[1]); err != nil || string(after) != string(before) {
			t.Errorf("%s: the file has changed: %v", skill, err)
		}
	}
	got := program(t, nil, "", "eval", "--skills", skills, "--json", "--min-pass", "0.5")
	if got.code != cli.ExitDone {
		t.Fatalf("code %d, err %q, out %s", got.code, got.err, got.out)
	}
	count := map[string]int{}
	for _, q := range reportOf(t, got).Queries {
		count[fmt.Sprint(q.Skill, q.ShouldTrigger)]++
	}
	if len(count) != 6 || count["pdftrue"] == 0 || count["pdffalse"] == 0 {
		t.Errorf("queries %v", count)
	}
	text, err := os.ReadFile(filepath.Join(skills, "pdf", "evals", "evals.json"))
	if err != nil || !strings.Contains(string(text), `"skill_name": "pdf"`) {
		t.Errorf("error %v, evals %s", err, text)
	}
}

// A link of a skill leads eval init nowhere else.
func TestEvalInitStaysInTheSkill(t *testing.T) {
	skills, elsewhere := testSkills(t), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(skills, "pdf", "evals")); err != nil {
		t.Skip("no links here")
	}
	got := program(t, nil, "", "eval", "init", "--skills", skills, "pdf")
	if written, err := os.ReadDir(elsewhere); got.code != cli.ExitFailed || err != nil || len(written) != 0 {
		t.Errorf("code %d, err %q, written %v, %v", got.code, got.err, written, err)
	}
}

func TestHelpOfEvalShowsItsFlags(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	help := program(t, nil, "", "eval", "--help").out
	lines := 0
	for line := range strings.Lines(help) {
		if !strings.HasPrefix(line, " ") && strings.HasSuffix(line, ":\n") {
			lines = 0
		}
		if lines++; lines > screenLines {
			t.Errorf("a group has more than %d lines, with %q", screenLines, line)
			break
		}
	}
	for _, flag := range strings.Fields("--mode -n --threshold --framework --system --model --judge -j --max-cost --prices --state --record --replay --json --junit --html --baseline --min-trigger --min-pass --suite --skills") {
		if !strings.Contains(help, " "+flag) {
			t.Errorf("no %s in the help", flag)
		}
	}
	if !strings.Contains(help, "eval init") {
		t.Error("the help does not name eval init")
	}
}

// Real skills with a hundred queries take less than two seconds.
func TestEvalOfRealSkillsIsQuick(t *testing.T) {
	corpus := os.Getenv("SATCHEL_CORPUS")
	if corpus == "" {
		t.Skip("SATCHEL_CORPUS is not set: no eval of real skills")
	}
	skills := filepath.Join(corpus, "anthropics-skills")
	var names []string
	var queries []any
	for line := range strings.Lines(program(t, nil, "", "list", "--json", skills).out) {
		var skill struct{ Name, Description string }
		if err := json.Unmarshal([]byte(line), &skill); err != nil {
			t.Fatal(err)
		}
		names = append(names, skill.Name)
		words := strings.Fields(skill.Description)
		for i := range 10 {
			queries = append(queries, map[string]any{"query": strings.Join(words[i:min(len(words), i+12)], " "), "should_trigger": i < 7})
		}
	}
	if len(queries) < 100 {
		t.Fatalf("%d queries of %d skills", len(queries), len(names))
	}
	args := []string{"eval", "--skills", skills, "--json"}
	for i, name := range names {
		text, err := json.Marshal(map[string]any{"skill_name": name, "queries": queries[10*i : 10*i+10]})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), name+".json")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--suite", file)
	}
	began := time.Now()
	got := program(t, nil, "", args...)
	took := time.Since(began)
	report := reportOf(t, got)
	t.Logf("%d queries of %d skills in %v: recall at 1 is %.2f", report.Totals.Queries, len(names), took, *report.Totals.Recall1)
	if got.code != cli.ExitDone || *report.Totals.Recall1 < 0.5 || took > 2*time.Second {
		t.Errorf("code %d, err %q, recall at 1 %.2f, %v", got.code, got.err, *report.Totals.Recall1, took)
	}
}
