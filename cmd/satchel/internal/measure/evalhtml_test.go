//go:build unix

package measure

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/internal/testing/browsertest"
	"github.com/satchel-go/satchel/satcheltest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }

// pageSkills are a skill with a query and an eval.
func pageSkills(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"pdf/SKILL.md":                "---\nname: pdf\ndescription: Fills forms.\n---\nRead the form.\n",
		"pdf/evals/eval_queries.json": `[{"query": "fill <b>it</b> in", "should_trigger": true}, {"query": "\u202egood day", "should_trigger": false}]`,
		"pdf/evals/evals.json":        `[{"id": "1", "prompt": "fill it in", "assertions": ["regex:Done", "The answer is polite"]}]`,
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A trial on the page of --html opens its trace, also that of a run before.
func TestEvalPage(t *testing.T) {
	server, err := satcheltest.Open(func(r satcheltest.Request) satcheltest.Response {
		turn := satcheltest.Turn{Answer: "Done."}
		if r.Contains("it") {
			turn.Steps = []satcheltest.Step{satcheltest.Load("pdf")}
		}
		return satcheltest.Plan(turn)(r)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	env := map[string]string{"OPENAI_BASE_URL": server.URL(), "OPENAI_MODEL": "scripted"}
	skills, dir := pageSkills(t), t.TempDir()
	browsertest.NewPage(t) // the browser has its files elsewhere
	t.Setenv("TMPDIR", t.TempDir())
	for mode, trials := range map[string]int{"trigger": 2, "outcome": 2, "offline": 0} {
		t.Run(mode, func(t *testing.T) {
			file := filepath.Join(dir, mode+".html")
			run := func(state string, maxCost float64) {
				t.Helper()
				var out, errs bytes.Buffer
				cmd := EvalRunCommand{EvalFlags{
					Mode: mode, Runs: 1, Jobs: 1, Threshold: 0.5, MaxSteps: 5, Framework: "eino", Executor: "local", HTML: file, State: state, MaxCost: maxCost, JSON: true,
				}}
				cmd.Skills = []string{skills}
				err := cmd.Run(t.Context(), cli.Console{Out: &out, Err: &errs, Env: func(name string) string { return env[name] }})
				if err != nil && !errors.Is(err, cli.ErrReported) {
					t.Fatal(err, errs.String())
				}
			}
			if mode != "offline" {
				state := filepath.Join(dir, mode+".state")
				run(state, 1)
				run(state, 0)
				openTrials(t, file, trials)
			}
			run("", 0)
			openTrials(t, file, trials)
		})
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "satchel-eval-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// openTrials opens the trace of each trial of a page.
func openTrials(t *testing.T, file string, trials int) {
	t.Helper()
	p := browsertest.NewPage(t)
	p.Open("file://" + file)
	p.Wait(`document.documentElement.dataset.ready === "true"`)
	if got := p.Text(`String(document.querySelectorAll("[data-trial]").length)`); got != fmt.Sprint(trials) {
		t.Fatalf("%s trials, want %d", got, trials)
	}
	for i := range trials {
		trial := fmt.Sprintf(`document.querySelectorAll("[data-trial]")[%d]`, i)
		link := trial + `.querySelector("a[href^='#call=']")`
		name, call := p.Text(trial+`.dataset.trial`), p.Text(`decodeURIComponent(`+link+`.getAttribute("href").slice("#call=".length))`)
		if !strings.HasPrefix(call, name) {
			t.Errorf("trial %s opens %s", name, call)
		}
		p.Eval(link+`.click()`, nil)
		p.Wait(fmt.Sprintf(`document.querySelector("#call")?.dataset.call === %q`, call))
		if text := p.Text(`document.querySelector("#call [data-message] [data-text]").textContent`); text == "" {
			t.Errorf("call %s has no text", call)
		}
	}
	if found := p.Complaints(); len(found) > 0 {
		t.Errorf("the page complains: %v", found)
	}
}
