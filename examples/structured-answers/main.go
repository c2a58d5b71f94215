// Command structured-answers gets Go values from an agent. A skill says which answer it makes,
// and the agent submits it by a tool that checks it against a type of the host. If an answer
// does not fit, the tool says why, and the model corrects it.
//
// Run it in examples/, with OPENAI_API_KEY and OPENAI_MODEL set, and with OPENAI_BASE_URL for
// an endpoint other than OpenAI's:
//
//	go run ./structured-answers
package main

import (
	"bytes"
	"context"
	"encoding/json"
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
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "structured-answers:", err)
		os.Exit(1)
	}
}

// incident is the answer of the skill incident-report.
type incident struct {
	Service string `json:"service"`
	Cause   string `json:"cause"`
	Minutes int    `json:"minutes"`
}

// snippet: submit
type submission struct {
	Skill  string         `json:"skill" jsonschema:"required"`
	Answer map[string]any `json:"answer" jsonschema:"required"`
}

// submit keeps the last answer that fits, by skill.
func submit(answers map[string]any) func(context.Context, submission) (string, error) {
	return func(_ context.Context, s submission) (string, error) {
		answer, ok := map[string]any{"incident-report": new(incident)}[s.Skill]
		if !ok {
			return fmt.Sprintf("error: skill %q has no answer of this kind", s.Skill), nil
		}
		raw, err := json.Marshal(s.Answer)
		if err != nil {
			return "", err
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(answer); err != nil {
			return "error: " + err.Error() + "; submit it again as the skill says", nil
		}
		answers[s.Skill] = answer
		return "accepted", nil
	}
}

// end snippet

func run(ctx context.Context, w io.Writer) error {
	model, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{
		BaseURL: os.Getenv("OPENAI_BASE_URL"), APIKey: os.Getenv("OPENAI_API_KEY"), Model: os.Getenv("OPENAI_MODEL"),
	})
	answers := map[string]any{}
	tell, failed := utils.InferTool("submit", "Hands in the answer of a skill.", submit(answers))
	skills, refused := satchel.New(satchel.WithSkillDirs("structured-answers/skills"), satchel.WithTools(satchel.Tools{Names: []string{"skill_load"}}))
	if err := errors.Join(err, failed, refused); err != nil {
		return err
	}
	defer skills.Close()
	cfg := &react.AgentConfig{ToolCallingModel: model, ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{tell}}, MaxStep: 40}
	if _, err := eino.InstallReact(cfg, skills); err != nil {
		return err
	}
	agent, err := react.NewAgent(ctx, cfg)
	if err != nil {
		return err
	}
	ctx = satchel.WithSession(ctx, "conversation-1")
	if _, err := agent.Generate(ctx, []*schema.Message{schema.UserMessage("The import was down from 1:12 to 1:40: the disk was full.")}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%+v\n", answers["incident-report"])
	return err
}
