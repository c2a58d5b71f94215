package run_test

import (
	"context"
	"fmt"
	"log"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/egress"
	"github.com/satchel-go/satchel/tools/run"
)

// Lists of commands often come from the environment of the host.
func ExampleParsePolicy() {
	policy, err := run.ParsePolicy("python3, ffmpeg", "")
	fmt.Println(policy.Allowed, err)
	_, err = run.ParsePolicy(", ,", "")
	fmt.Println(err)
	// Output:
	// [python3 ffmpeg] <nil>
	// invalid command policy: a list names no command
}

// The operations of a runner are offered beside those of the tools package.
func ExampleRunner_Operations() {
	var r run.Runner
	for _, o := range r.Operations() {
		fmt.Println(o.Name)
	}
	// Output:
	// skill_run
	// skill_exec
	// skill_write_stdin
	// skill_poll_session
	// skill_kill_session
}

// One skill reaches one host. Its SKILL.md has, under metadata, the line
// "network: https://api.example.com".
func ExampleNetwork() {
	// snippet: egress
	api, err := egress.ParseRule("https://api.example.com")
	if err != nil {
		log.Fatal(err)
	}
	runner := satchel.Runner{Egress: func(_ context.Context, skill core.Skill) run.Network {
		if skill.Name != "weather" {
			return run.Network{} // reaches nothing
		}
		return run.Network{Policy: egress.Policy{Rules: []egress.Rule{api}}}
	}}
	// end snippet
	weather := core.Skill{Name: "weather", Metadata: map[string]string{"network": "https://api.example.com https://*.example.org"}}
	asked, _ := run.DeclaredNetwork(weather.Metadata)
	granted, refused := runner.Egress(context.Background(), weather).Policy.Narrow(asked)
	fmt.Println(granted.Rules, refused)
	// Output: [https://api.example.com] [https://*.example.org]
}

func ExamplePolicyFromEnv() {
	env := map[string]string{"SATCHEL_RUN_ALLOWED_COMMANDS": "python3, ffmpeg"}
	policy, err := run.PolicyFromEnv(func(name string) string { return env[name] })
	fmt.Println(policy.Allowed, err)
	// Output: [python3 ffmpeg] <nil>
}
