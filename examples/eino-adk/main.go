// Command eino-adk is a ChatModelAgent of Eino's adk that has skills. Its two
// questions need different ones; the model finds and loads them itself.
//
// Run it in examples/, with OPENAI_API_KEY and OPENAI_MODEL set, and with
// OPENAI_BASE_URL for an endpoint other than OpenAI's:
//
//	go run ./eino-adk
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "eino-adk:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	// This is the agent as it was before.
	model, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{
		BaseURL: os.Getenv("OPENAI_BASE_URL"),
		APIKey:  os.Getenv("OPENAI_API_KEY"),
		Model:   os.Getenv("OPENAI_MODEL"),
	})
	if err != nil {
		return err
	}
	cfg := &adk.ChatModelAgentConfig{
		Name:        "writer",
		Description: "Writes texts for a software project.",
		Instruction: "You write texts for a software project.",
		Model:       model,
	}

	return withSkills(ctx, cfg, func(ctx context.Context, agentOf newAgent) error {
		return converse(ctx, w, agentOf)
	})
}

// converse asks two questions. The history stays yours: skill texts are added to
// each request, never to the messages that you keep.
func converse(ctx context.Context, w io.Writer, agentOf newAgent) error {
	var history []*schema.Message
	for _, question := range []string{
		"Write the release notes for 1.4.0: exports keep time zones (#81).",
		"Now a commit message for #81.",
	} {
		fmt.Fprintln(w, "user:", question)
		history = append(history, schema.UserMessage(question))
		agent, err := agentOf()
		if err != nil {
			return err
		}
		events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Run(ctx, history)
		for event, ok := events.Next(); ok; event, ok = events.Next() {
			if event.Err != nil {
				return event.Err
			}
			message, _, err := adk.GetMessage(event)
			if err != nil {
				return err
			}
			if message == nil {
				continue // an event about the run, not of the model or a tool
			}
			history = append(history, message)
			for _, call := range message.ToolCalls {
				fmt.Fprintln(w, "writer calls:", call.Function.Name, call.Function.Arguments)
			}
			if message.Role == schema.Assistant && message.Content != "" {
				fmt.Fprintln(w, "writer:", message.Content)
			}
		}
	}
	return nil
}
