// Command text-agent is an agent of langchaingo that works in text (MRKL), for models that
// cannot call tools. It loads a skill, and gets the turn before in its prompt.
//
// Run it in examples/, with OPENAI_API_KEY and OPENAI_MODEL set, and with OPENAI_BASE_URL for
// an endpoint other than OpenAI's:
//
//	go run ./text-agent
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/tmc/langchaingo/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/langchaingo"
	"github.com/satchel-go/satchel/tools"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "text-agent:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	llm, err := openai.New()
	if err != nil {
		return err
	}
	skills, err := satchel.New(satchel.WithSkillDirs("skills"), satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly}))
	if err != nil {
		return err
	}
	defer skills.Close()
	adapter, err := langchaingo.Install(skills, llm, nil, langchaingo.WithHistory(langchaingo.NewConversations().History))
	if err != nil {
		return err
	}
	agent := adapter.Agent(agents.NewOneShotAgent(adapter.Model(), adapter.Tools()))
	executor := agents.NewExecutor(agent, agents.WithMaxIterations(20), agents.WithReturnIntermediateSteps())

	ctx = satchel.WithSession(ctx, "conversation")
	for _, text := range []string{"Write a commit message for a fix of a typo.", "Shorter, please."} {
		out, err := executor.Call(ctx, map[string]any{"input": text})
		if err != nil {
			return err
		}
		steps, _ := out["intermediateSteps"].([]schema.AgentStep)
		for _, step := range steps {
			fmt.Fprintln(w, "called:", step.Action.Tool, step.Action.ToolInput)
		}
		fmt.Fprintln(w, out["output"])
	}
	return nil
}
