// Command eino-react is a react agent of Eino that has a tool of its own and
// skills, and streams its answer.
//
// Run it in examples/, with OPENAI_API_KEY and OPENAI_MODEL set, and with
// OPENAI_BASE_URL for an endpoint other than OpenAI's:
//
//	go run ./eino-react
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/core"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "eino-react:", err)
		os.Exit(1)
	}
}

// since is what the model gives the tool changes_since.
type since struct {
	Version string `json:"version" jsonschema:"required"`
}

func changesSince(_ context.Context, _ since) (string, error) {
	return "export keeps time zones (#81)\nlogin answers an empty password at once (#85)", nil
}

func run(ctx context.Context, w io.Writer) error {
	model, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{
		BaseURL: os.Getenv("OPENAI_BASE_URL"),
		APIKey:  os.Getenv("OPENAI_API_KEY"),
		Model:   os.Getenv("OPENAI_MODEL"),
	})
	if err != nil {
		return err
	}
	changes, err := utils.InferTool("changes_since", "Lists the changes since a version.", changesSince)
	if err != nil {
		return err
	}
	// InstallReact changes none of the agent's limits, and two defaults of react are too narrow
	// for most agents with skills. 12 steps are about five rounds of model and tools, and a
	// streaming run ends as soon as the model speaks.
	cfg := &react.AgentConfig{
		ToolCallingModel:      model,
		ToolsConfig:           compose.ToolsNodeConfig{Tools: []tool.BaseTool{changes}},
		MaxStep:               40,
		StreamToolCallChecker: eino.ToolCallsInAnyChunk,
	}

	report := func(_ context.Context, e core.Event) {
		if e.Kind == core.SkillLoaded {
			fmt.Fprintln(w, "loaded:", e.Skill, e.Docs)
		}
	}
	skills, err := satchel.New(satchel.WithSkillDirs("skills"), satchel.WithEvents(report))
	if err != nil {
		return err
	}
	defer skills.Close()
	if _, err := eino.InstallReact(cfg, skills); err != nil {
		return err
	}
	agent, err := react.NewAgent(ctx, cfg)
	if err != nil {
		return err
	}

	ctx = satchel.WithSession(ctx, "conversation-1")
	answer, err := agent.Stream(ctx, []*schema.Message{schema.UserMessage("Write the release notes for 1.4.0.")})
	if err != nil {
		return err
	}
	defer answer.Close()
	for chunk, err := answer.Recv(); !errors.Is(err, io.EOF); chunk, err = answer.Recv() {
		if err != nil {
			return err
		}
		fmt.Fprint(w, chunk.Content)
	}
	return nil
}
