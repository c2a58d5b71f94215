package main

import (
	"context"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/langchaingo"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"
)

// withSkills gives an agent the skills below the directory "skills".
func withSkills(ctx context.Context, llm llms.Model, hostTools []tools.Tool, talk func(context.Context, *agents.Executor) error) error {
	skills, err := satchel.New(satchel.WithSkillDirs("skills"))
	if err != nil {
		return err
	}
	defer skills.Close()
	adapter, err := langchaingo.Install(skills, llm, hostTools)
	if err != nil {
		return err
	}
	agent := adapter.Agent(agents.NewOpenAIFunctionsAgent(adapter.Model(), adapter.Tools()))
	executor := agents.NewExecutor(agent, agents.WithMaxIterations(40), agents.WithReturnIntermediateSteps())
	return talk(satchel.WithSession(ctx, "conversation-1"), executor)
}
