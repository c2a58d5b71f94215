package skillneeds_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/skillneeds"
	"github.com/satchel-go/satchel/skillmd"
)

func TestRead(t *testing.T) {
	tests := []struct {
		name, front string
		want        *core.Needs
		problems    []string // parts of the messages
	}{
		{"none", "license: MIT", nil, nil},
		{"no metadata value", "metadata:", nil, nil},
		{"bins and env", "metadata:\n  openclaw:\n    requires: {bins: [ffmpeg, jq], env: [API_KEY]}", &core.Needs{Bins: []string{"ffmpeg", "jq"}, Env: []string{"API_KEY"}}, nil},
		{"one of", "metadata: {clawdbot: {requires: {anyBins: [rg, grep]}}}", &core.Needs{AnyBins: [][]string{{"rg", "grep"}}}, nil},
		{"config", "metadata: {moltbot: {requires: {config: [browser.enabled]}}}", &core.Needs{Config: []string{"browser.enabled"}}, nil},
		{"systems", "metadata: {clawdis: {os: [macOS, mac, darwin, win32, linux]}}", &core.Needs{OS: []string{"darwin", "windows", "linux"}}, nil},
		{"a key that is no map", "metadata: {openclaw: [1, 2], clawdbot: text, moltbot: null, clawdis: {requires: {bins: [a]}}}", &core.Needs{Bins: []string{"a"}}, []string{"metadata.openclaw is not a map and is ignored", "metadata.clawdbot is not a map and is ignored"}},
		{"items that are no text", "requires: {anyBins: [[a, b], c]}", &core.Needs{AnyBins: [][]string{{"c"}}}, []string{"requires.anyBins: an entry that is not text is not the name of a program and is ignored"}},
		{"an unknown system", "metadata: {openclaw: {os: [plan9]}}", nil, []string{`metadata.openclaw.os: "plan9" is not the name of a system`}},
		{"a text is one name", "metadata: {openclaw: {requires: {bins: ffmpeg}, os: linux}}", &core.Needs{Bins: []string{"ffmpeg"}, OS: []string{"linux"}}, nil},
		{"a text with commas", "metadata: {openclaw: {requires: {bins: 'ffmpeg, jq'}}}", &core.Needs{Bins: []string{"ffmpeg", "jq"}}, nil},
		{"primaryEnv alone", "metadata: {openclaw: {primaryEnv: TOKEN}}", &core.Needs{Env: []string{"TOKEN"}, PrimaryEnv: "TOKEN"}, nil},
		{"primaryEnv beside env", "metadata: {openclaw: {primaryEnv: A, requires: {env: [B, A]}}}", &core.Needs{Env: []string{"B", "A"}, PrimaryEnv: "A"}, nil},
		{"env as maps", "metadata:\n  openclaw:\n    requires:\n      env:\n        - name: A\n          description: the key\n        - B", &core.Needs{Env: []string{"A", "B"}}, nil},
		{"env as one map", "metadata: {openclaw: {requires: {env: {name: A, required: true}}}}", &core.Needs{Env: []string{"A"}}, nil},
		{"env as a map of names", "metadata: {openclaw: {requires: {env: {A: the key, B: another}}}}", &core.Needs{Env: []string{"A", "B"}}, nil},
		{"required and optional", "requires: {env: {required: [A, B], optional: [C, A], never_required: [D]}}", &core.Needs{Env: []string{"A", "B", "C"}, Optional: []string{"C"}}, nil},
		{"only optional", `metadata: {"clawdbot":{"requires":{"bins":["curl"],"env":{"optional":["TOKEN"],"notes":"for messages"}}}}`, &core.Needs{Bins: []string{"curl"}, Env: []string{"TOKEN"}, Optional: []string{"TOKEN"}}, nil},
		{"nothing is required", "requires: {bins: [a], env: {required: [], optional: [C]}}", &core.Needs{Bins: []string{"a"}, Env: []string{"C"}, Optional: []string{"C"}}, nil},
		{"items say that they are optional", "requires: {bins: [{name: a, optional: true}, {b: optional}, c], env: [{name: A, required: false}, {name: B, required: \"no\"}, {name: C, required: true}, {D: 'Optional: for mails'}, {E: optionally}]}",
			&core.Needs{Bins: []string{"a", "b", "c"}, Env: []string{"A", "B", "C", "D", "E"}, Optional: []string{"a", "b", "A", "B", "D"}}, nil},
		{"a map says what is optional", "requires: {env: {A: optional, B: {required: false, description: x}, C: required, D: {description: x}, required: true}}",
			&core.Needs{Env: []string{"A", "B", "C", "D", "required"}, Optional: []string{"A", "B"}}, nil},
		{"required once", "requires: {bins: [{name: a, required: false}, a], env: [B, {name: B, optional: true}]}", &core.Needs{Bins: []string{"a"}, Env: []string{"B"}}, nil},
		{"optional, and one of several", "requires: {bins: [{name: gh, optional: true}], anyBins: [gh, hub]}",
			&core.Needs{Bins: []string{"gh"}, AnyBins: [][]string{{"gh", "hub"}}, Optional: []string{"gh"}}, nil},
		{"optional, and a secret", "requires: {env: [{name: A, optional: true}]}\nsecrets: A", &core.Needs{Env: []string{"A"}, Secrets: []string{"A"}}, nil},
		{"groups hold no groups", "requires: {env: {optional: {optional: {optional: [A]}}}}", &core.Needs{Env: []string{"optional"}, Optional: []string{"optional"}}, nil},
		{"words that are names", "requires: {bins: [optional, required], env: optional}", &core.Needs{Bins: []string{"optional", "required"}, Env: []string{"optional"}}, nil},
		{"one is required", "requires: {env: {required: A}}", &core.Needs{Env: []string{"A"}}, nil},
		{"items with a remark", "requires:\n  bins:\n    - bird: fetches them\n  env:\n    - TOKEN: of the service", &core.Needs{Bins: []string{"bird"}, Env: []string{"TOKEN"}}, nil},
		{"always", "metadata: {openclaw: {always: true}}", &core.Needs{Always: true}, nil},
		{"always is a word", "metadata: {openclaw: {always: often}}", nil, []string{"neither true nor false"}},
		{"keys are joined", "metadata: {openclaw: {requires: {bins: [a]}}, clawdbot: {requires: {env: [E]}, os: [linux]}}", &core.Needs{Bins: []string{"a"}, Env: []string{"E"}, OS: []string{"linux"}}, nil},
		{"the newest key of a list", "metadata: {clawdis: {requires: {bins: [old]}, always: true}, moltbot: {requires: {bins: [mid]}}, openclaw: {requires: {bins: [new]}, always: false}}", &core.Needs{Bins: []string{"new"}}, nil},
		{"JSON text", `metadata: '{"openclaw":{"requires":{"bins":["ffmpeg"]}}}'`, &core.Needs{Bins: []string{"ffmpeg"}}, nil},
		{"JSON text of a key", "metadata:\n  clawdbot: '{\"requires\":{\"bins\":[\"ffmpeg\"]}}'", &core.Needs{Bins: []string{"ffmpeg"}}, nil},
		{"JSON that is no YAML", `metadata: {"openclaw":{"emoji":"\ud83e\udde0","requires":{"env":["KEY"]}}}`, &core.Needs{Env: []string{"KEY"}}, nil},
		{"JSON without indentation", "metadata:\n{\n  \"openclaw\": {\"requires\": {\"env\": [\"KEY\"]}}\n}", &core.Needs{Env: []string{"KEY"}}, nil},
		{"broken JSON text", `metadata: '{"openclaw":{"requires":'`, nil, nil},
		{"top-level requires", "requires:\n  mcp: [rube]\n  bins: [gh]\n  env: [GH_TOKEN]", &core.Needs{Bins: []string{"gh"}, Env: []string{"GH_TOKEN"}, MCP: []string{"rube"}}, nil},
		{"both are joined", "requires: {bins: [gh, jq]}\nmetadata: {openclaw: {requires: {bins: [jq, rg]}}}", &core.Needs{Bins: []string{"jq", "rg", "gh"}}, nil},
		{"requires is a text", "requires: python 3.8", nil, []string{"requires is not a map"}},
		{"requires is a list", "metadata: {openclaw: {requires: [ffmpeg]}}", nil, []string{"metadata.openclaw.requires is not a map"}},
		{"secrets", "secrets: [A, B]\nmetadata: {secrets: 'C, A'}", &core.Needs{Secrets: []string{"C", "A", "B"}}, nil},
		{"secrets as a text", "secrets: A B", &core.Needs{Secrets: []string{"A", "B"}}, nil},
		{"names that are paths", "metadata: {openclaw: {requires: {bins: [/bin/sh, ../x, ok, 'a b', 'c\\d', ., ..]}}}", &core.Needs{Bins: []string{"ok"}}, []string{`"/bin/sh" is not the name of a program and is ignored (and 5 more)`}},
		{"control characters", "metadata: {openclaw: {requires: {bins: [\"a\\tb\", \"a\\u200bb\"]}}}", nil, []string{"is not the name of a program"}},
		{"names that are no variables", "metadata: {openclaw: {requires: {env: [A=b, 1A, 'A B', OK_1]}}}", &core.Needs{Env: []string{"OK_1"}}, []string{"(and 2 more)"}},
		{"values of other kinds", "metadata: {openclaw: {requires: {bins: [[a], {x: y, z: y}, null, 7zip]}}}", &core.Needs{Bins: []string{"7zip"}}, []string{"(and 1 more)"}},
		{"install", "metadata: {openclaw: {install: [{id: brew, kind: brew, formula: ffmpeg}]}}", &core.Needs{Install: []string{`{"formula":"ffmpeg","id":"brew","kind":"brew"}`}}, nil},
		{"install is a text", "metadata: {openclaw: {install: brew}}", nil, []string{"install is not a list"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc, ds, err := skillmd.Parse([]byte("---\nname: a\ndescription: Does it.\n" + tt.front + "\n---\n"))
			if err != nil {
				t.Fatalf("the needs made the skill unusable: %v", err)
			}
			if !reflect.DeepEqual(doc.Skill.Needs, tt.want) {
				t.Errorf("needs = %s, want %s", asJSON(doc.Skill.Needs), asJSON(tt.want))
			}
			var got []string
			for _, d := range ds {
				if d.Code == "needs-malformed" {
					got = append(got, d.Message)
				}
			}
			if len(got) != len(tt.problems) {
				t.Fatalf("problems %q, want %d", got, len(tt.problems))
			}
			for i, part := range tt.problems {
				if !strings.Contains(got[i], part) {
					t.Errorf("problem %q, want one with %q", got[i], part)
				}
			}
		})
	}
}

func TestReadBoundsNames(t *testing.T) {
	names := make([]string, 10_000)
	for i := range names {
		names[i] = fmt.Sprintf("p%d", i)
	}
	front := "---\nname: a\ndescription: Does it.\nrequires: {bins: [" + strings.Join(names, ",") + "]}\n---\n"
	doc, ds, err := skillmd.Parse([]byte(front))
	if err != nil {
		t.Fatal(err)
	}
	if n := doc.Skill.Needs; n == nil || len(n.Bins) != 256 || n.Bins[255] != "p255" {
		t.Errorf("needs = %s, want the first 256 programs", asJSON(n))
	}
	if !slices.ContainsFunc(ds, func(d skillmd.Diagnostic) bool {
		return strings.Contains(d.Message, "requires.bins has 10000 names; the first 256 are read")
	}) {
		t.Errorf("no diagnostic says that names are left out: %v", ds)
	}
}

func TestReadAgentFile(t *testing.T) {
	tests := []struct {
		name, text string
		want       *core.Needs
		problem    string
	}{
		{"empty", "", nil, ""},
		{"without dependencies", "interface:\n  display_name: PDF\n", nil, ""},
		{"tools", "dependencies:\n  tools:\n    - type: mcp\n      value: github\n      url: https://example.com\n    - {type: env_var, value: TOKEN}\n    - {type: cli, value: gh}\n    - {type: app, value: calendar}\n",
			&core.Needs{Bins: []string{"gh"}, Env: []string{"TOKEN"}, MCP: []string{"github"}, Tools: []string{"calendar"}}, ""},
		{"no list", "dependencies: {tools: github}", nil, "is not a list"},
		{"without a value", "dependencies: {tools: [{type: mcp}]}", nil, "has no value"},
		{"a bad name", "dependencies: {tools: [{type: cli, value: /bin/sh}]}", nil, "is not the name of a program"},
		{"not YAML", "a: [", nil, "not valid YAML"},
		{"too long", strings.Repeat("a", skillneeds.MaxAgentFile+1), nil, "more than"},
		{"an alias", "a: &x [1]\ndependencies: {tools: *x}", nil, "is not a list"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, problems := skillneeds.ReadAgentFile([]byte(tt.text))
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("needs = %s, want %s", asJSON(got), asJSON(tt.want))
			}
			if tt.problem == "" != (len(problems) == 0) || tt.problem != "" && !strings.Contains(problems[0].Message, tt.problem) {
				t.Errorf("problems %v, want %q", problems, tt.problem)
			}
		})
	}
}

func TestJoin(t *testing.T) {
	a := &core.Needs{Bins: []string{"a", "b"}, Env: []string{"A"}, Optional: []string{"a", "b", "A"}, PrimaryEnv: "A"}
	b := &core.Needs{Bins: []string{"b", "c"}, Env: []string{"A"}, Optional: []string{"A"}, MCP: []string{"m"}, PrimaryEnv: "B", Always: true}
	want := &core.Needs{Bins: []string{"a", "b", "c"}, Env: []string{"A"}, Optional: []string{"a", "A"}, MCP: []string{"m"}, PrimaryEnv: "A", Always: true}
	if got := skillneeds.Join(a, b); !reflect.DeepEqual(got, want) {
		t.Errorf("Join = %s, want %s", asJSON(got), asJSON(want))
	}
	if len(a.Bins) != 2 || skillneeds.Join(nil, b) != b || skillneeds.Join(a, nil) != a || skillneeds.Join(nil, nil) != nil {
		t.Error("Join changed an argument, or did not return the only needs")
	}
}

func FuzzRead(f *testing.F) {
	f.Add("metadata: {openclaw: {requires: {bins: [a], anyBins: [b]}, os: [linux], install: [{kind: brew}]}}")
	f.Add(`metadata: '{"clawdbot":{"requires":{"env":["A"]},"primaryEnv":"A"}}'`)
	f.Add("requires: {mcp: [rube], env: {name: A}}\nsecrets: A, B")
	f.Add("dependencies: {tools: [{type: mcp, value: x}]}")
	f.Fuzz(func(t *testing.T, front string) {
		doc, _, _ := skillmd.Parse([]byte("---\nname: a\ndescription: b\n" + front + "\n---\n"))
		check(t, doc.Skill.Needs)
		needs, _ := skillneeds.ReadAgentFile([]byte(front))
		check(t, needs)
	})
}

// check fails if needs hold a name that must not be looked for.
func check(t *testing.T, n *core.Needs) {
	t.Helper()
	if n == nil {
		return
	}
	for _, name := range slices.Concat(append(n.AnyBins, n.Bins)...) {
		if name == "" || strings.ContainsAny(name, "/\\ \t\r\n\x00") || len(name) > 128 {
			t.Errorf("program %q", name)
		}
	}
	for _, name := range n.Declared() {
		if name == "" || strings.ContainsAny(name, "= \n\x00") {
			t.Errorf("variable %q", name)
		}
	}
	for _, system := range n.OS {
		if !slices.Contains([]string{"darwin", "linux", "windows"}, system) {
			t.Errorf("system %q", system)
		}
	}
}

func asJSON(n *core.Needs) string {
	text, err := json.Marshal(n)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// TestCorpus compares the programs and variables of real files with those that a plain reader of
// their YAML finds.
func TestCorpus(t *testing.T) {
	root := os.Getenv("SATCHEL_CORPUS")
	if root == "" {
		t.Skip("SATCHEL_CORPUS is not set: the needs of real files are not read")
	}
	files, declaring := 0, 0
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "SKILL.md" {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		files++
		doc, _, err := skillmd.Parse(text, skillmd.WithDirName(filepath.Base(filepath.Dir(file))))
		if err != nil || doc.Skill.Repaired {
			return nil //nolint:nilerr // no plain reader reads it
		}
		want, isYAML := plainNeeds(text)
		if !isYAML {
			return nil
		}
		got := ""
		if n := doc.Skill.Needs; n != nil {
			got = strings.Join(append(slices.Clone(n.Bins), n.Env...), " ")
		}
		if want != "" {
			declaring++
		}
		if got != want {
			t.Errorf("%s: needs %q, want %q", file, got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %d of them declare programs or variables", files, declaring)
	if declaring < 10 {
		t.Errorf("%d of %d files declare programs or variables: is this the corpus?", declaring, files)
	}
}

// plainNeeds returns the programs and variables in the first key of metadata that has some. isYAML
// is false for front matter that its parser does not read.
func plainNeeds(text []byte) (names string, isYAML bool) {
	type section struct {
		Requires struct{ Bins, Env []string }
	}
	var front struct {
		Metadata struct{ Openclaw, Clawdbot, Moltbot, Clawdis section }
	}
	text = bytes.ReplaceAll(text, []byte("\r"), nil)
	_, text, _ = bytes.Cut(text, []byte("---\n"))
	text, _, _ = bytes.Cut(text, []byte("\n---"))
	if yaml.Unmarshal(text, &front) != nil {
		return "", false
	}
	m := front.Metadata
	for _, s := range []section{m.Openclaw, m.Clawdbot, m.Moltbot, m.Clawdis} {
		if names := append(s.Requires.Bins, s.Requires.Env...); len(names) > 0 {
			return strings.Join(names, " "), true
		}
	}
	return "", true
}
