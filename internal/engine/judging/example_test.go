package judging_test

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel/internal/engine/judging"
	"github.com/satchel-go/satchel/permission"
)

func ExampleJudge_Decide() {
	lists := []judging.List{{Skill: "release", Rules: judging.Parse("Bash(git:*) Read")}}
	shell := judging.NewNames().Tool("bash")
	var judge judging.Judge
	for _, arguments := range []string{`{"command":"git status"}`, `{"command":"git status; rm -rf x"}`} {
		v, err := judge.Decide(context.Background(), shell.Request(arguments), lists)
		fmt.Println(v.Outcome, v.Rule, err)
	}
	// Output:
	// granted Bash(git:*) <nil>
	// denied  <nil>
}

// Lists speak of the tools that the format has a word for. Other tools of the host
// go on as without a list, unless a list of the catalog names them.
func ExampleNewMentions() {
	names := judging.NewNames()
	lists := []judging.List{{Skill: "release", Rules: judging.Parse("Bash(git:*) Read")}}
	judge := judging.Judge{Mentions: judging.NewMentions(judging.Parse("mcp__db__*"))}
	for _, tool := range []string{"run_command", "lookup_order", "mcp__db__query"} {
		v, err := judge.Decide(context.Background(), names.Tool(tool).Request(`{}`), lists)
		fmt.Println(tool, v.Outcome, err)
	}
	// Output:
	// run_command denied <nil>
	// lookup_order open <nil>
	// mcp__db__query denied <nil>
}

func ExampleNewNames() {
	names := judging.NewNames(permission.Tool{
		Name: "run_in_container", As: []string{"Bash"}, Takes: permission.Command, Field: "script",
	})
	request := names.Tool("run_in_container").Request(`{"script":"go test ./..."}`)
	var judge judging.Judge
	lists := []judging.List{{Skill: "ci", Rules: judging.Parse("Bash(go test *)")}}
	v, err := judge.Decide(context.Background(), request, lists)
	fmt.Println(v.Outcome, v.Skill, err)
	// Output: granted ci <nil>
}

func ExampleParse() {
	for _, r := range judging.Parse("Bash(git:*), Read mcp__db__query Write({a") {
		fmt.Printf("%q %q %q\n", r.Tool, r.Pattern, r.Fault)
	}
	// Output:
	// "Bash" "git:*" ""
	// "Read" "" ""
	// "mcp__db__query" "" ""
	// "" "" "neither a name nor a name with a pattern in parentheses"
}
