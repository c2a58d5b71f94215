// Command first-langchaingo asks an agent of langchaingo, which has skills, one question.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/langchaingo"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms/openai"
)

func main() {
	if err := ask(context.Background(), "Write the release notes for 1.4.0."); err != nil {
		log.Fatal(err)
	}
}

func ask(ctx context.Context, question string) error {
	model, err := openai.New() // reads OPENAI_API_KEY, OPENAI_MODEL and OPENAI_BASE_URL
	if err != nil {
		return err
	}

	skills, err := satchel.New(satchel.WithSkillDirs("skills")) // folders with a SKILL.md
	if err != nil {
		return err
	}
	defer skills.Close()
	adapter, err := langchaingo.Install(skills, model, nil) // nil: your own tools
	if err != nil {
		return err
	}
	ctx = satchel.WithSession(ctx, "conversation-1")

	agent := adapter.Agent(agents.NewOpenAIFunctionsAgent(adapter.Model(), adapter.Tools()))
	answer, err := chains.Run(ctx, agents.NewExecutor(agent, agents.WithMaxIterations(40)), question)
	fmt.Println(answer)
	return err
}
