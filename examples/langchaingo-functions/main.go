// Command langchaingo-functions is an OpenAIFunctionsAgent of langchaingo that
// has a tool of its own and skills.
//
// Run it in examples/, with OPENAI_API_KEY and OPENAI_MODEL set, and with
// OPENAI_BASE_URL for an endpoint other than OpenAI's:
//
//	go run ./langchaingo-functions
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/tools"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "langchaingo-functions:", err)
		os.Exit(1)
	}
}

// changes is a tool of the agent's own.
type changes struct{}

func (changes) Name() string        { return "changes_since" }
func (changes) Description() string { return "Lists the changes since a version, such as 1.3.0." }

func (changes) Call(context.Context, string) (string, error) {
	return "export keeps time zones (#81)\nlogin answers an empty password at once (#85)", nil
}

func run(ctx context.Context, w io.Writer) error {
	// These are the parts of the agent as it was before. The client reads the
	// OPENAI_ variables itself.
	llm, err := openai.New()
	if err != nil {
		return err
	}
	hostTools := []tools.Tool{changes{}}

	return withSkills(ctx, llm, hostTools, func(ctx context.Context, executor *agents.Executor) error {
		return ask(ctx, w, executor)
	})
}

// ask wants release notes. withSkills allows the executor 40 iterations, because its
// default of 5 is too few to load a skill, read its docs and still do the work.
func ask(ctx context.Context, w io.Writer, executor *agents.Executor) error {
	out, err := chains.Call(ctx, executor, map[string]any{"input": "Write the release notes for 1.4.0."})
	if err != nil {
		return err
	}
	steps, _ := out["intermediateSteps"].([]schema.AgentStep)
	for _, step := range steps {
		fmt.Fprintln(w, "called:", step.Action.Tool, step.Action.ToolInput)
	}
	fmt.Fprintln(w, out["output"])
	return nil
}
