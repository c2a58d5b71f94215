package langchaingo_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/adapter/langchaingo"
	"github.com/satchel-go/satchel/core"
)

// parrot stands for a client of a service. It loads a skill and then answers.
type parrot struct{}

func (parrot) GenerateContent(_ context.Context, msgs []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	choice := &llms.ContentChoice{Content: "I have read how to greet."}
	if msgs[len(msgs)-1].Role == llms.ChatMessageTypeHuman {
		choice = &llms.ContentChoice{ToolCalls: []llms.ToolCall{{ID: "call-1", FunctionCall: &llms.FunctionCall{Name: "skill_load", Arguments: `{"skill":"greet"}`}}}}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

func (p parrot) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, p, prompt, options...)
}

var skills = fstest.MapFS{
	"greet/SKILL.md": {Data: []byte("---\nname: greet\ndescription: Greet people.\n---\nSay hello.\n")},
}

func ExampleInstall() {
	runtime, err := satchel.New(satchel.WithSkillFS("skills", skills))
	if err != nil {
		fmt.Println(err)
		return
	}
	adapter, err := langchaingo.Install(runtime, parrot{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	agent := adapter.Agent(agents.NewOpenAIFunctionsAgent(adapter.Model(), adapter.Tools()))
	executor := agents.NewExecutor(agent, agents.WithMaxIterations(40), agents.WithReturnIntermediateSteps())

	ctx := satchel.WithSession(context.Background(), "s-1")
	out, err := chains.Call(ctx, executor, map[string]any{"input": "How do I greet?"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, step := range out["intermediateSteps"].([]schema.AgentStep) {
		fmt.Println(step.Action.Tool, step.Action.ToolInput)
	}
	fmt.Println(out["output"])
	loaded, err := runtime.Loaded(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(loaded[0].Agent, loaded[0].Skill)
	// Output:
	// skill_load {"skill":"greet"}
	// I have read how to greet.
	// agent greet
}

func ExampleNewConversations() {
	runtime, err := satchel.New(satchel.WithSkillFS("skills", skills))
	if err != nil {
		fmt.Println(err)
		return
	}
	talks := langchaingo.NewConversations()
	installed, err := langchaingo.Install(runtime, parrot{}, nil, langchaingo.WithHistory(talks.History))
	if err != nil {
		fmt.Println(err)
		return
	}
	executor := agents.NewExecutor(installed.Agent(agents.NewOpenAIFunctionsAgent(installed.Model(), installed.Tools())))
	ctx := satchel.WithSession(context.Background(), "s-1")
	if _, err := chains.Run(ctx, executor, "How do I greet?"); err != nil {
		fmt.Println(err)
		return
	}
	history, err := talks.History(adapter.WithKey(ctx, core.SessionKey{Session: "s-1", Agent: "agent"}))
	if err != nil {
		fmt.Println(err)
		return
	}
	messages, err := history.Messages(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range messages {
		fmt.Printf("%s %q\n", m.GetType(), m.GetContent())
	}
	// Output:
	// human "How do I greet?"
	// ai ""
	// tool "loaded: greet\n[skill#1 +greet@c8e2c1437abb]"
	// ai "I have read how to greet."
}
