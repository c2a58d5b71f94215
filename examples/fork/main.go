// Command fork runs a skill as an agent of its own. The agent that loads the skill gets the result
// alone: the text of the skill, and what its agent reads and tries, are in none of its requests.
//
// Run it in examples/, with OPENAI_API_KEY and OPENAI_MODEL set, and with
// OPENAI_BASE_URL for an endpoint other than OpenAI's:
//
//	go run ./fork
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fork:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	// snippet: option
	resolve := func(ctx context.Context, r satchel.ForkRequest, cfg *adk.ChatModelAgentConfig) (err error) {
		if r.Skill.Model == "small" { // what the front matter asks for, if this program knows it
			cfg.Model, err = newModel(ctx, os.Getenv("OPENAI_SMALL_MODEL"))
		}
		return err
	}
	skills, err := satchel.New(
		satchel.WithSkillDirs("skills"),
		satchel.WithFork(satchel.Fork{Run: eino.Fork(resolve), Skills: []string{"log-triage"}}),
	)
	// end snippet
	if err != nil {
		return err
	}
	defer skills.Close()

	model, err := newModel(ctx, os.Getenv("OPENAI_MODEL"))
	if err != nil {
		return err
	}
	cfg := &adk.ChatModelAgentConfig{Name: "support", Description: "Helps.", Instruction: "You help the people on call.", Model: model}
	if _, err := eino.Install(cfg, skills); err != nil {
		return err
	}
	agent, err := adk.NewChatModelAgent(ctx, cfg)
	if err != nil {
		return err
	}
	ctx = satchel.WithSession(ctx, "conversation-1")
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "What went wrong in the log of last night?")
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		if event.Err != nil {
			return event.Err
		}
		message, _, err := adk.GetMessage(event)
		if err != nil {
			return err
		}
		if message != nil && message.Content != "" {
			fmt.Fprintf(w, "%s: %s\n", message.Role, message.Content)
		}
	}
	return nil
}

func newModel(ctx context.Context, name string) (*openai.ChatModel, error) {
	return openai.NewChatModel(ctx, &openai.ChatModelConfig{BaseURL: os.Getenv("OPENAI_BASE_URL"), APIKey: os.Getenv("OPENAI_API_KEY"), Model: name})
}
