package main

import (
	"context"
	"os"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
)

// connectEino begins a conversation with an agent of Eino's adk.
func connectEino(ctx context.Context, skills *satchel.Runtime) (func(context.Context, string) (string, error), error) {
	model, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{
		BaseURL: os.Getenv("OPENAI_BASE_URL"), APIKey: os.Getenv("OPENAI_API_KEY"), Model: os.Getenv("OPENAI_MODEL"),
	})
	if err != nil {
		return nil, err
	}
	cfg := &adk.ChatModelAgentConfig{Name: "writer", Description: "Writes texts.", Model: model}
	if _, err := eino.Install(cfg, skills); err != nil {
		return nil, err
	}
	agent, err := adk.NewChatModelAgent(ctx, cfg)
	if err != nil {
		return nil, err
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent})
	var history []*schema.Message
	return func(ctx context.Context, prompt string) (answer string, err error) {
		history = append(history, schema.UserMessage(prompt))
		events := runner.Run(ctx, history)
		for event, ok := events.Next(); ok; event, ok = events.Next() {
			if event.Err != nil {
				return "", event.Err
			}
			message, _, err := adk.GetMessage(event)
			if err != nil {
				return "", err
			}
			if message != nil {
				history = append(history, message)
				answer = message.Content
			}
		}
		return answer, nil
	}, nil
}
