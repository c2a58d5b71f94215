package satchel_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/permission"
)

// Adapters ask the gate before each call; here it is asked by hand.
func ExampleWithPermissions() {
	files := fstest.MapFS{"git/SKILL.md": {Data: []byte("---\nname: git\ndescription: Keeps a repository.\nallowed-tools: Bash(git:*)\n---\nCommit small steps.\n")}}
	rt, err := satchel.New(
		satchel.WithSkillFS("skills", files),
		satchel.WithPermissions(satchel.Permissions{Policy: permission.Restrict, HostTools: []permission.Tool{{Name: "terminal", As: []string{"Bash"}, Takes: permission.Command, Field: "line"}}}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rt.Close()
	ctx, key := context.Background(), core.SessionKey{Session: "conversation-1"}
	if _, err := rt.CallTool(ctx, key, core.ToolCall{Name: "skill_load", Arguments: "git"}); err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range []string{"git status", "git status; rm -rf .git"} {
		call, err := rt.Agent(key).Open(ctx, core.ToolCall{Name: "terminal", Arguments: fmt.Sprintf(`{"line":%q}`, line)})
		if err != nil {
			fmt.Println(err)
			return
		}
		d, err := call.Gate(ctx)
		fmt.Println(line, "denied:", d.Denied, err)
		call.Close()
	}
	// Output:
	// git status denied: false <nil>
	// git status; rm -rf .git denied: true <nil>
}
