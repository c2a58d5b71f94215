package skilltools_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/tools"
)

func skills(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a/SKILL.md":        "---\nname: a\ndescription: Does a.\nlicense: MIT\nallowed-tools: Bash Read\n---\nBody of a.\n",
		"a/scripts/say.sh":  "echo \"said $1 $WORD\"; exit 3\n",
		"a/scripts/data":    "neither\n",
		"a/scripts/none":    "#!/usr/bin/nowhere\n",
		"a/references/x.md": "Text of x.\n",
		"b/SKILL.md":        "---\nname: b\ndescription: Does b.\n---\nBody of b.\n",
		"c/SKILL.md":        "---\nname: c\ndescription: Does c.\n---\nBody of c.\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// knowledge offers the tools that show skills and run nothing, and vocabulary all of them.
func knowledge() satchel.Option {
	return satchel.WithTools(satchel.Tools{Vocabulary: tools.Vocabulary{Name: tools.RuntimeSpec}, Profile: tools.KnowledgeOnly})
}

func vocabulary() satchel.Option {
	return satchel.WithTools(satchel.Tools{Vocabulary: tools.Vocabulary{Name: tools.RuntimeSpec}})
}

func chat(t *testing.T, opts ...satchel.Option) *chattest.Chat {
	t.Helper()
	return chatIn(t, skills(t), opts...)
}

func chatIn(t *testing.T, dir string, opts ...satchel.Option) *chattest.Chat {
	t.Helper()
	rt, err := satchel.New(append(opts, satchel.WithSkillDirs(dir))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return chattest.NewChat(t, rt).Say(core.User, "go")
}

// active reads the names of a receipt.
func active(t *testing.T, answer string) (names []string) {
	t.Helper()
	var r struct {
		Active []struct {
			Name     string `json:"name"`
			Location string `json:"location"`
			Root     string `json:"root_dir"`
			Digest   string `json:"digest"`
		} `json:"active_skills"`
	}
	if err := json.Unmarshal([]byte(answer), &r); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	for _, a := range r.Active {
		if !strings.HasPrefix(a.Digest, "sha256:") || a.Location != a.Root+"/SKILL.md" {
			t.Errorf("%+v", a)
		}
		names = append(names, a.Name)
	}
	return names
}

func TestLoadReplacesAndAdds(t *testing.T) {
	c := chat(t, knowledge())
	for _, step := range []struct{ call, want string }{
		{`skills_load {"names":["a","b","a"]}`, "a b"},
		{`skills_load {"names":["c"]}`, "c"},
		{`skills_load {"names":["b","c"],"mode":"add"}`, "c b"},
		{`skills_unload {"names":["c"]}`, "b"},
		{`skills_unload {"names":["c"]}`, "b"},
		{`skills_unload {"all":true}`, ""},
	} {
		if got := strings.Join(active(t, c.Calls(step.call)[0]), " "); got != step.want {
			t.Errorf("%s: %q, want %q", step.call, got, step.want)
		}
	}
}

func TestReceiptIsThatOfTheSpec(t *testing.T) {
	c := chat(t, knowledge())
	answer := c.Calls(`skills_load {"names":["b"],"why":"x"}`)[0]
	at := c.Runtime.Catalog().Snapshot().Skills()[1].Place
	loaded, err := c.Runtime.Loaded(adapter.WithKey(t.Context(), c.Key))
	if err != nil {
		t.Fatal(err)
	}
	digest := loaded[0].Digest
	want := `{"active_skills":[{"name":"b","location":"` + at + `","root_dir":"` + strings.TrimSuffix(at, "/SKILL.md") + `","digest":"sha256:` + digest +
		`","properties":{"description":"Does b.","name":"b"}}],"notes":["loaded: b"],"warnings":["ignored unknown field \"why\""],"receipt":"[skill#1 +b@` + digest[:12] + `]"}`
	if answer != want {
		t.Errorf("answer\n%s\nwant\n%s", answer, want)
	}
}

// Active skills last for the conversation, unless the host says otherwise.
func TestActiveSkillsLast(t *testing.T) {
	turn := func(c *chattest.Chat) string {
		c.Calls(`skills_load {"names":["a","b"]}`)
		c.Say(core.Assistant, "done").Say(core.User, "next")
		return strings.Join(active(t, c.Calls(`skills_unload {"names":["b"]}`)[0]), " ")
	}
	if got := turn(chat(t, vocabulary())); got != "a" {
		t.Errorf("active skills of the next turn: %q", got)
	}
	if got := turn(chat(t, vocabulary(), satchel.WithLoading(satchel.Loading{Prices: loadmode.OpenAI()}))); got != "a" {
		t.Errorf("active skills of the next turn, with prices: %q", got)
	}
	if got := turn(chat(t, vocabulary(), satchel.WithLoading(satchel.Loading{Mode: loadmode.Turn}))); got != "" {
		t.Errorf("active skills of the next turn, in mode turn: %q", got)
	}
}

// A receipt holds no path of the host without WithLocations, and what it holds loads the
// skill again.
func TestLocations(t *testing.T) {
	dir := skills(t)
	for _, test := range []struct {
		name       string
		isAbsolute bool
		want       string
	}{
		{"default", false, filepath.Base(dir) + "/c/SKILL.md"},
		{"absolute", true, filepath.ToSlash(dir) + "/c/SKILL.md"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := chatIn(t, dir, satchel.WithTools(satchel.Tools{Vocabulary: tools.Vocabulary{Name: tools.RuntimeSpec, Locations: test.isAbsolute}}),
				satchel.WithOverview(satchel.Overview{Locations: true}))
			answer := c.Calls(`skills_load {"names":["c"]}`)[0]
			if !strings.Contains(answer, `"location":"`+test.want+`"`) || !test.isAbsolute && strings.Contains(answer, filepath.ToSlash(filepath.Dir(dir))) {
				t.Errorf("receipt %s", answer)
			}
			place := filepath.Base(dir) + "/c/SKILL.md"
			if !strings.Contains(c.View()[0].Text, "<location>"+place+"</location>") {
				t.Errorf("overview %s", c.View()[0].Text)
			}
			for _, location := range []string{test.want, place} {
				c.Calls(`skills_unload {"all":true}`)
				if got := active(t, c.Calls(`skills_load {"names":["` + location + `"]}`)[0]); len(got) != 1 || got[0] != "c" {
					t.Errorf("load %q: %q", location, got)
				}
			}
		})
	}
}

// An answer names no parameter that the vocabulary lacks.
func TestScriptErrors(t *testing.T) {
	here, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	c := chat(t, vocabulary(), satchel.WithRunner(satchel.Runner{Executor: here}))
	c.Calls(`skills_load a`)
	for call, want := range map[string]string{
		`skills_run_script {"path":"scripts/data"}`:                                                         `error: script "scripts/data" has neither a #! line nor a known extension (.cjs, .js, .lua, .mjs, .php, .pl, .ps1, .py, .r, .rb, .sh, .ts); run another script`,
		`skills_run_script {"path":"scripts/say.sh","args":["` + strings.Repeat("x", 200<<10) + `"]}`:       "error: an argument has 204800 bytes, at most 131071 are allowed",
		`skills_run_script {"path":"scripts/say.sh","env":{"WORD":"` + strings.Repeat("x", 200<<10) + `"}}`: "error: variable WORD has 204805 bytes, at most 131071 are allowed",
	} {
		if got := c.Calls(call)[0]; got != want {
			t.Errorf("%.80s: %s\nwant %s", call, got, want)
		}
	}
	for call, want := range map[string]string{
		`skills_run_script {"path":"scripts/none"}`:                             `\"nowhere\" was not found on PATH, so the script was not run: tell the user that it is missing\n`,
		`skills_run_script {"path":"scripts/say.sh","env":{"PATH":"/nowhere"}}`: `\"sh\" was not found on the PATH of env, so the script was not run: leave PATH out of env\n","warnings":["script \"scripts/say.sh\" asks for bash, which was not found: sh is taken for it"]`,
	} {
		if got := c.Calls(call)[0]; !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", call, got, want)
		}
	}
}

// A program runs by itself, also where an archive has lost its exec bit.
func TestProgramRuns(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the program of this test is one of Linux")
	}
	here, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	dir := skills(t)
	program, err := os.ReadFile("/bin/echo")
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"say": 0o755, "bare": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, "a", "scripts", name), program, mode); err != nil {
			t.Fatal(err)
		}
	}
	c := chatIn(t, dir, vocabulary(), satchel.WithRunner(satchel.Runner{Executor: here}))
	c.Calls(`skills_load a`)
	for _, name := range []string{"say", "bare"} {
		want := `{"path":"scripts/` + name + `","exit_code":0,"stdout":"hello\n","stderr":""}`
		if got := c.Calls(`skills_run_script {"path":"scripts/` + name + `","args":["hello"]}`)[0]; got != want {
			t.Errorf("answer %s, want %s", got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	c := chat(t, satchel.WithLoading(satchel.Loading{Max: 2}), knowledge())
	c.Calls(`skills_load {"names":["a"]}`)
	for call, want := range map[string]string{
		`skills_load {"names":["b","c"],"mode":"add"}`: `error: 1 loaded and 2 more are over 2: load fewer, or use mode "replace"`,
		`skills_load {"names":["a","b","c"]}`:          "error: 3 skills in one call are more than the 2 that can be loaded; load fewer",
		`skills_load {"names":["bb","nope"]}`:          `error: unknown skill "bb": did you mean "b"?; unknown skill "nope": use a name from the list of available skills`,
		`skills_load {}`:                               `error: "names" is missing; send an object such as {"names":["…"]}`,
		`skills_unload {}`:                             `error: name skills, such as {"names":["…"]}, or set all`,
		`skills_read {"skill":"b","path":"SKILL.md"}`:  `error: skill "b" is not loaded: call skills_load for it first`,
	} {
		if got := c.Calls(call)[0]; got != want {
			t.Errorf("%s: %s\nwant %s", call, got, want)
		}
	}
	chattest.Same(t, "loaded", c.LoadedNames(), "a[]")
}

// Instructions stand after the system text, or, where the host says so, in the result that
// has the receipt.
func TestPlacement(t *testing.T) {
	c := chat(t, knowledge())
	c.Calls(`skills_load a`)
	view := c.View()
	if !strings.Contains(view[0].Text, "<available_skills>") || !strings.Contains(view[0].Text, "<active_skills>") || !strings.Contains(view[0].Text, "Body of a.") ||
		!strings.Contains(view[0].Text, "Load a skill with skills_load") {
		t.Errorf("view\n%s", chattest.Shown(view))
	}
	c = chat(t, knowledge(), satchel.WithLoading(satchel.Loading{Placement: processors.InToolResult}))
	c.Calls(`skills_load a`)
	view = c.View()
	if last := view[len(view)-1].Text; !strings.Contains(last, "]\"}\n\n<skill name=\"a\">\nBody of a.") {
		t.Errorf("view\n%s", chattest.Shown(view))
	}
}

func TestRead(t *testing.T) {
	c := chat(t, knowledge(), satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))
	if got := c.Calls(`skills_read {"path":"references/x.md"}`)[0]; got != "error: no skill is loaded: call skills_load first" {
		t.Errorf("before: %s", got)
	}
	c.Calls(`skills_load a`)
	if got := c.Calls(`skills_read {"path":"references/x.md"}`)[0]; !strings.HasSuffix(got, "Text of x.") {
		t.Errorf("answer %s", got)
	}
}

func TestRunScript(t *testing.T) {
	here, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	c := chat(t, vocabulary(), satchel.WithRunner(satchel.Runner{Executor: here}))
	if got := c.Calls(`skills_run_script {"path":"scripts/say.sh"}`)[0]; got != "error: no skill is loaded: call skills_load first" {
		t.Errorf("before: %s", got)
	}
	c.Calls(`skills_load a`)
	got := c.Calls(`skills_run_script {"path":"scripts/say.sh","args":["it"],"env":{"WORD":"now"},"workdir":"."}`)[0]
	if want := `{"path":"scripts/say.sh","exit_code":3,"stdout":"said it now\n","stderr":""}`; got != want {
		t.Errorf("answer %s, want %s", got, want)
	}
	if got := c.Calls(`skills_run_script {"path":"Say.sh"}`)[0]; got != `error: path "Say.sh" is not below scripts/; did you mean "scripts/say.sh"?` {
		t.Errorf("a script without its folder: %q", got)
	}
	if got := c.Calls(`skills_run_script {"path":"../x.sh"}`)[0]; got != `error: path "../x.sh" is not below scripts/` {
		t.Errorf("answer %s", got)
	}
	c.Calls(`skills_load b`)
	if got := c.Calls(`skills_run_script {"skill":"a","path":"scripts/say.sh"}`)[0]; !strings.Contains(got, "not loaded") {
		t.Errorf("unloaded: %s", got)
	}
}

func TestDotted(t *testing.T) {
	v := skilltools.RuntimeSpec(true, true)
	if v.Loads() != "skills.load" || !strings.Contains(v.Guidance, "skills.run_script") || len(v.Guidance) > 700 {
		t.Errorf("%s, %s", v.Loads(), v.Guidance)
	}
	if _, err := satchel.New(satchel.WithTools(satchel.Tools{Vocabulary: tools.Vocabulary{Operations: []tools.Operation{skilltools.Unload()}}})); err == nil {
		t.Error("a vocabulary without a load is accepted")
	}
}

// A receipt holds all fields of the front matter that skills have by the standard.
func TestReceiptHasTheVersion(t *testing.T) {
	dir := skills(t)
	text := "---\nname: d\ndescription: Does d.\nversion: 1.2.3\nmetadata:\n  owner: us\n---\nBody of d.\n"
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "d", "SKILL.md"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	c := chatIn(t, dir, knowledge()).Say(core.User, "hi")
	const want = `"properties":{"description":"Does d.","metadata":{"owner":"us"},"name":"d","version":"1.2.3"}`
	if got := c.Calls(`skills_load {"names":["d"]}`)[0]; !strings.Contains(got, want) {
		t.Errorf("the receipt is %s, want %s", got, want)
	}
}

// TestVocabularyByName refuses names that mean no vocabulary, and operations beside one that
// has its own.
func TestVocabularyByName(t *testing.T) {
	for want, v := range map[string]tools.Vocabulary{
		`"runtime_spec" is none of Satchel's`:  {Name: "runtime_spec"},
		"only Dotted and Locations may be set": {Name: tools.RuntimeSpec, Operations: []tools.Operation{{Name: "x", Provides: []string{"skill_load"}}}},
	} {
		if _, err := satchel.New(satchel.WithTools(satchel.Tools{Vocabulary: v})); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", v, err, want)
		}
	}
	c := chat(t, satchel.WithTools(satchel.Tools{Vocabulary: tools.Vocabulary{Name: tools.RuntimeSpec, Dotted: true}, Profile: tools.KnowledgeOnly}))
	if got := active(t, c.Calls(`skills.load {"names":["a"]}`)[0]); len(got) != 1 || got[0] != "a" {
		t.Errorf("skills.load answers %q", got)
	}
}
