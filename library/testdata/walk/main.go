// Program walk plays an edit: the model patches a skill, and a person approves it. It writes
// which statements ran from the call to its answer into the directory of its argument.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"
	"runtime/coverage"
	"strings"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/library"
)

const skill = "---\nname: greeting\ndescription: How to greet people.\n---\nSay \"Hello\".\n"

func main() {
	if err := play(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func play(ctx context.Context, dir string) error {
	l, err := library.New(library.NewMemory())
	if err != nil {
		return err
	}
	isPrivate := false
	made, err := l.Edit(ctx, library.Actor{Roles: []library.Role{"maintainer"}}, library.Edit{Action: "import", Name: "greeting", Files: map[string][]byte{"SKILL.md": []byte(skill)}, Private: &isPrivate})
	if err != nil {
		return err
	}
	rt, err := satchel.New(
		library.With(l, library.AgentOptions{Actor: func(context.Context, core.SessionKey) (library.Actor, error) {
			return library.Actor{Subject: "ann", Roles: []library.Role{"editor"}}, nil
		}}),
		satchel.WithTools(satchel.Tools{Vocabulary: library.Vocabulary()}),
		satchel.WithApprover(func(context.Context, core.Ask) (core.Answer, error) { return core.AnswerAllow, nil }),
	)
	if err != nil {
		return err
	}
	defer rt.Close()
	key := core.SessionKey{Session: "1"}
	arguments, err := json.Marshal(map[string]string{"action": "patch", "skill": "greeting", "expectedVersionRef": made.VersionRef, "patch": "@@ -5 +5 @@\n-Say \"Hello\".\n+Say \"Ahoy\".\n"})
	if err != nil {
		return err
	}
	call := core.ToolCall{ID: "1", Name: "updateSkill", Arguments: string(arguments)}
	if _, err := rt.Prepare(ctx, core.Request{Key: key, Messages: []core.Message{{Role: core.User, Text: "Say Ahoy."}}}); err != nil {
		return err
	}
	if err := rt.Hooks().Observe(ctx, key, []core.ToolCall{call}); err != nil {
		return err
	}
	if err := coverage.ClearCounters(); err != nil {
		return err
	}
	answer, err := rt.CallTool(ctx, key, call)
	if err == nil {
		err = coverage.WriteCountersDir(dir)
	}
	if err == nil && !strings.Contains(answer, `"status":"applied"`) {
		err = errors.New(answer)
	}
	return errors.Join(err, coverage.WriteMetaDir(dir))
}
