package judging

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/satchel-go/satchel/permission"
)

// read ignores unexported fields of rules.
var read = cmpopts.IgnoreUnexported(Rule{})

func TestParse(t *testing.T) {
	any := func(name string) Rule { return Rule{Text: name, Tool: name, Any: true} }
	for text, want := range map[string][]Rule{
		"":                   {},
		"Read":               {any("Read")},
		"Read, Write  Edit":  {any("Read"), any("Write"), any("Edit")},
		"Bash (echo:*) Read": {{Text: "Bash(echo:*)", Tool: "Bash", Pattern: "echo:*"}, any("Read")},
		"Bash(git:*)":        {{Text: "Bash(git:*)", Tool: "Bash", Pattern: "git:*"}},
		"Bash(npm run *) Ls": {{Text: "Bash(npm run *)", Tool: "Bash", Pattern: "npm run *"}, any("Ls")},
		"Agent(a:b, c:d)":    {{Text: "Agent(a:b, c:d)", Tool: "Agent", Pattern: "a:b, c:d"}},
		"Read(~/.cache/x/**),mcp__db__query": {
			{Text: "Read(~/.cache/x/**)", Tool: "Read", Pattern: "~/.cache/x/**"}, any("mcp__db__query"),
		},
		"Bash(echo (a, b):*)": {{Text: "Bash(echo (a, b):*)", Tool: "Bash", Pattern: "echo (a, b):*"}},
		"Bash(*) Bash(:*)": {
			{Text: "Bash(*)", Tool: "Bash", Pattern: "*", Any: true}, {Text: "Bash(:*)", Tool: "Bash", Pattern: ":*", Any: true},
		},
		"Bash()":        {{Text: "Bash()", Tool: "Bash", Fault: "an empty pattern"}},
		"Bash(git":      {{Text: "Bash(git", Fault: faultForm}},
		"Bash) Read":    {{Text: "Bash)", Fault: faultForm}, any("Read")},
		"Bash(a)b":      {{Text: "Bash(a)b", Fault: faultForm}},
		"Bash(a)(b)":    {{Text: "Bash(a)(b)", Fault: faultForm}},
		"(git:*)":       {{Text: "(git:*)", Pattern: "git:*", Fault: faultForm}},
		"(*)":           {{Text: "(*)", Pattern: "*", Fault: faultForm}},
		"mcp__db__* -":  {any("mcp__db__*"), any("-")},
		"读\u3000写":      {any("读"), any("写")},
		"Bash( git:* )": {{Text: "Bash( git:* )", Tool: "Bash", Pattern: "git:*"}},
	} {
		t.Run(text, func(t *testing.T) {
			if diff := cmp.Diff(want, Parse(text), read); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRules(t *testing.T) {
	// Each item of a YAML list is one entry, whatever characters it contains.
	got := Rules([]string{"Azure MCP/documentation", "Read, Write", " Edit "})
	want := []Rule{
		{Text: "Azure MCP/documentation", Tool: "Azure MCP/documentation", Any: true},
		{Text: "Read, Write", Tool: "Read, Write", Any: true}, {Text: " Edit ", Tool: "Edit", Any: true},
	}
	if diff := cmp.Diff(want, got, read); diff != "" {
		t.Error(diff)
	}
	if n := len(Rules(make([]string, 10_000))); n != maxRules {
		t.Errorf("%d entries are read", n)
	}
	if r := Rules([]string{strings.Repeat("a", maxRule+1)})[0]; r.Tool != "" {
		t.Errorf("a long entry names %q", r.Tool)
	}
}

func TestRuleNames(t *testing.T) {
	names := NewNames(permission.Tool{Name: "run_it", As: []string{"Bash", "Run"}}, permission.Tool{Name: "shell"})
	for _, tt := range []struct {
		rule, tool string
		want       bool
	}{
		{"Read", "Read", true}, {"read", "READ", true}, {"Read", "Reader", false},
		{"Bash", "skill_run", true}, {"Bash", "skill_exec", true}, {"Bash", "skill_write_stdin", true},
		{"Bash", "skill_poll_session", true}, {"Bash", "skill_kill_session", true}, {"skill_run", "skill_exec", false},
		{"Bash", "run_it", true}, {"run", "run_it", true}, {"Bash", "bash", true}, {"Bash", "search", false},
		{"Bash", "shell", false}, // the host has replaced the built-in tool
		{"Read", "read_file", true}, {"Write", "read_file", false}, {"Agent", "task", true},
		{"mcp__db__query", "mcp__db__query", true}, {"mcp__db__query", "mcp__db__drop", false},
		{"mcp__db__*", "mcp__db__drop", true}, {"mcp__db__*", "mcp__dbx__drop", false}, {"mcp__db", "mcp__db__drop", true},
		{"mcp__db", "mcp__dbx__drop", false}, {"mcp__", "mcp____drop", false}, {"mcp__db__q", "mcp__db__q__x", false},
		{"*", "anything", true}, {"skill_*", "skill_run", true}, {"B*", "skill_run", false},
		{"", "", false}, {"Bash(", "Bash", false},
	} {
		tool := names.Tool(tt.tool)
		if r := readRule(tt.rule, testBudget()); r.names(&tool) != tt.want {
			t.Errorf("%q names %q: want %v", tt.rule, tt.tool, tt.want)
		}
	}
}

// FuzzParse checks that entries are bounded, and that the text of a readable entry parses to the
// same entry.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"Bash(git:*) Read", "Agent(a:b, c:d)", "A(b", "B)", "mcp__a__*,,Bash(*)", "((()))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rules := Parse(text)
		if len(rules) > maxRules {
			t.Fatalf("%d entries", len(rules))
		}
		again := make([]string, 0, len(rules))
		for _, r := range rules {
			again = append(again, r.Text)
			if r.Tool == "" && (r.Any || r.Pattern != "" && !strings.HasPrefix(r.Text, "(")) {
				t.Fatalf("%q is %+v", r.Text, r)
			}
			if r.Tool != "" && !strings.HasPrefix(strings.TrimSpace(r.Text), r.Tool) {
				t.Fatalf("%q names %q", r.Text, r.Tool)
			}
		}
		if diff := cmp.Diff(rules, Rules(again), read); diff != "" {
			t.Fatal(diff)
		}
	})
}
