// Command dynamic-tools offers an agent one tool that calls the tools of loaded skills. The
// metadata of a skill names its tools, and its text has their schemas. The list of tools that
// the model sees never changes. Run it in examples/, with OPENAI_API_KEY and OPENAI_MODEL set.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// backend are all tools that skills can bring.
var backend = map[string]func(input map[string]string) string{
	"lookup_order": func(in map[string]string) string { return in["id"] + ": packed, 2 lamps" },
	"cancel_order": func(in map[string]string) string { return in["id"] + " is cancelled" },
	"count_stock":  func(map[string]string) string { return "40" },
}

// call is what the model gives use_tool.
type call struct {
	Tool  string            `json:"tool" jsonschema:"required"`
	Input map[string]string `json:"input"`
}

// snippet: tool
func useTool(skills *satchel.Runtime) func(context.Context, call) (string, error) {
	return func(ctx context.Context, c call) (string, error) {
		loaded, err := skills.Loaded(ctx) // by the agent that calls
		if err != nil {
			return "", err
		}
		for _, l := range loaded {
			skill, _ := skills.Catalog().Snapshot().Skill(l.Skill)
			if do := backend[c.Tool]; do != nil && slices.Contains(strings.Fields(skill.Metadata["tools"]), c.Tool) {
				return do(c.Input), nil
			}
		}
		return fmt.Sprintf("error: no loaded skill brings a tool %q; load one that does", c.Tool), nil
	}
}

// end snippet

func run(ctx context.Context, w io.Writer) error {
	model, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{
		BaseURL: os.Getenv("OPENAI_BASE_URL"), APIKey: os.Getenv("OPENAI_API_KEY"), Model: os.Getenv("OPENAI_MODEL"),
	})
	if err != nil {
		return err
	}
	skills, err := satchel.New(satchel.WithSkillDirs("dynamic-tools/skills"), satchel.WithTools(satchel.Tools{Names: []string{"skill_load"}}))
	if err != nil {
		return err
	}
	defer skills.Close()
	use, err := utils.InferTool("use_tool", "Calls a tool that a loaded skill brings; the skill says what it takes.", useTool(skills))
	if err != nil {
		return err
	}
	cfg := &adk.ChatModelAgentConfig{Name: "shop", Description: "Answers customers.", Model: model}
	cfg.ToolsConfig.Tools = []tool.BaseTool{use}
	if _, err := eino.Install(cfg, skills); err != nil {
		return err
	}
	agent, err := adk.NewChatModelAgent(ctx, cfg)
	if err != nil {
		return err
	}
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(satchel.WithSession(ctx, "conversation-1"), "Please cancel order A-17.")
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		message, _, err := adk.GetMessage(event)
		if err = errors.Join(err, event.Err); err != nil {
			return err
		}
		if message != nil && message.Content != "" {
			line, _, _ := strings.Cut(message.Content, "\n")
			fmt.Fprintf(w, "%s: %s\n", message.Role, line)
		}
	}
	return nil
}
