// Command permission is an agent of Eino's adk whose calls need permission. While commit-style
// is loaded, its list of allowed tools applies. A call that no list decides interrupts the run
// until a person answers.
//
// Run it in examples/, with OPENAI_API_KEY and OPENAI_MODEL set, and with OPENAI_BASE_URL for
// an endpoint other than OpenAI's:
//
//	go run ./permission
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/core"
)

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "permission:", err)
		os.Exit(1)
	}
}

// command is what the model gives the tool shell. Lists call a tool of that name
// Bash; satchel.Permissions.HostTools says so of others.
type command struct {
	Command string `json:"command" jsonschema:"required"`
}

func shell(_ context.Context, c command) (string, error) { return "ran " + c.Command, nil }

func run(ctx context.Context, in io.Reader, w io.Writer) error {
	model, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{
		BaseURL: os.Getenv("OPENAI_BASE_URL"), APIKey: os.Getenv("OPENAI_API_KEY"), Model: os.Getenv("OPENAI_MODEL"),
	})
	if err != nil {
		return err
	}
	sh, err := utils.InferTool("shell", "Runs a command in the repository.", shell)
	if err != nil {
		return err
	}
	cfg := &adk.ChatModelAgentConfig{Name: "git", Description: "Keeps a repository.", Model: model}
	cfg.ToolsConfig.Tools = []tool.BaseTool{sh}

	// snippet: approver
	report := func(_ context.Context, e core.Event) {
		if e.Call.Name == "shell" && (e.Kind == core.ToolAllowed || e.Kind == core.ToolDenied) {
			fmt.Fprintln(w, e.Kind, e.Call.Arguments, e.Rule)
		}
	}
	skills, err := satchel.New(satchel.WithSkillDirs("skills"), satchel.WithApprover(eino.Interrupt), satchel.WithEvents(report))
	// end snippet
	if err != nil {
		return err
	}
	defer skills.Close()
	if _, err := eino.Install(cfg, skills); err != nil {
		return err
	}
	agent, err := adk.NewChatModelAgent(ctx, cfg)
	if err != nil {
		return err
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, CheckPointStore: checkpoints{}})
	for i, prompt := range []string{"Commit what I did and push it.", "Push it now."} {
		// snippet: resume
		turn := fmt.Sprint("turn-", i+1)
		ctx := satchel.BeginTurn(satchel.WithSession(ctx, "conversation-1"), turn)
		answers, err := follow(runner.Query(ctx, prompt, adk.WithCheckPointID(turn)), in, w)
		for err == nil && len(answers) > 0 {
			var events *adk.AsyncIterator[*adk.AgentEvent]
			if events, err = runner.ResumeWithParams(ctx, turn, &adk.ResumeParams{Targets: answers}); err == nil {
				answers, err = follow(events, in, w)
			}
		}
		// end snippet
		if err != nil {
			return err
		}
	}
	return nil
}
