package permission_test

import (
	"fmt"

	"github.com/satchel-go/satchel/permission"
)

func ExampleJudge_Decide() {
	lists := []permission.List{{Skill: "release", Rules: permission.Parse("Bash(git:*) Read")}}
	shell := permission.NewNames().Tool("bash")
	var judge permission.Judge
	for _, arguments := range []string{`{"command":"git status"}`, `{"command":"git status; rm -rf x"}`} {
		v := judge.Decide(shell.Use(arguments), lists)
		fmt.Println(v.Outcome, v.Rule)
	}
	// Output:
	// granted Bash(git:*)
	// denied
}

func ExampleNewNames() {
	names := permission.NewNames(permission.Tool{
		Name: "run_in_container", As: []string{"Bash"}, Takes: permission.Command, Field: "script",
	})
	use := names.Tool("run_in_container").Use(`{"script":"go test ./..."}`)
	var judge permission.Judge
	v := judge.Decide(use, []permission.List{{Skill: "ci", Rules: permission.Parse("Bash(go test *)")}})
	fmt.Println(v.Outcome, v.Skill)
	// Output: granted ci
}

func ExampleParse() {
	for _, r := range permission.Parse("Bash(git:*), Read mcp__db__query") {
		fmt.Printf("%s %q\n", r.Tool, r.Pattern)
	}
	// Output:
	// Bash "git:*"
	// Read ""
	// mcp__db__query ""
}
