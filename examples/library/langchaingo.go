package main

import (
	"context"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/tmc/langchaingo/memory"
	"github.com/tmc/langchaingo/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/langchaingo"
)

// connectLangchaingo begins a conversation with an executor of langchaingo. The client
// reads the OPENAI_ variables itself.
func connectLangchaingo(_ context.Context, skills *satchel.Runtime) (func(context.Context, string) (string, error), error) {
	llm, err := openai.New()
	if err != nil {
		return nil, err
	}
	history := memory.NewChatMessageHistory()
	adapter, err := langchaingo.Install(skills, llm, nil, langchaingo.WithHistory(func(context.Context) (schema.ChatMessageHistory, error) { return history, nil }))
	if err != nil {
		return nil, err
	}
	agent := adapter.Agent(agents.NewOpenAIFunctionsAgent(adapter.Model(), adapter.Tools()))
	executor := agents.NewExecutor(agent, agents.WithMaxIterations(40))
	return func(ctx context.Context, prompt string) (string, error) { return chains.Run(ctx, executor, prompt) }, nil
}
