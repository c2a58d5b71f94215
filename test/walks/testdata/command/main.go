// Program command plays the first command of a session: the model has loaded a skill, and runs a
// command of it in the sandbox. It writes which statements ran from the call to its answer into
// the directory of its argument.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"runtime/coverage"
	"strings"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/sandbox"
)

var skills = fstest.MapFS{
	"greeting/SKILL.md":         {Data: []byte("---\nname: greeting\ndescription: How to greet people.\n---\nRun scripts/hello.sh.\n")},
	"greeting/scripts/hello.sh": {Data: []byte("echo Ahoy\n")},
}

func main() {
	if err := play(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func play(ctx context.Context, dir string) error {
	box, err := sandbox.Open(ctx)
	if err != nil {
		return err
	}
	defer box.Close()
	rt, err := satchel.New(satchel.WithSkillFS("skills", skills), satchel.WithRunner(satchel.Runner{Executor: box}))
	if err != nil {
		return err
	}
	defer rt.Close()
	key := core.SessionKey{Session: "1", Agent: "greeter"}
	ctx = adapter.WithKey(satchel.WithSession(ctx, "1"), key)
	messages := []core.Message{{Role: core.User, Text: "Say hello."}}
	for i, c := range []core.ToolCall{
		{ID: "1", Name: "skill_load", Arguments: `{"skill":"greeting"}`},
		{ID: "2", Name: "skill_run", Arguments: `{"skill":"greeting","command":"sh scripts/hello.sh"}`},
	} {
		if _, err := rt.Prepare(ctx, core.Request{Key: key, Messages: messages}); err != nil {
			return err
		}
		if err := rt.Hooks().Observe(ctx, key, []core.ToolCall{c}); err != nil {
			return err
		}
		if i == 1 {
			if err := coverage.ClearCounters(); err != nil {
				return err
			}
		}
		answer, err := rt.CallTool(ctx, key, c)
		if err != nil {
			return err
		}
		if i == 1 {
			if err := coverage.WriteCountersDir(dir); err != nil {
				return err
			}
			if !strings.Contains(answer, "Ahoy") {
				return fmt.Errorf("answer %q", answer)
			}
			return coverage.WriteMetaDir(dir)
		}
		messages = append(messages, core.Message{Role: core.Assistant, Calls: []core.ToolCall{c}}, core.Message{Role: core.ToolResult, CallID: c.ID, Tool: c.Name, Text: answer})
	}
	return nil
}
