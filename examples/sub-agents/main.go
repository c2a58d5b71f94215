// Command sub-agents is an agent of Eino's adk that calls another one as a tool. Both have the same
// skills, and each loads its own. A skill that one of them loads is never in a request of the other.
//
// Run it in examples/, with OPENAI_API_KEY and OPENAI_MODEL set, and with
// OPENAI_BASE_URL for an endpoint other than OpenAI's:
//
//	go run ./sub-agents
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/permission"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sub-agents:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	// The list of commit-style allows only some commands of git. It must not prevent the lead
	// from calling the other agent.
	asking := permission.Tool{Name: "triage", Always: true}
	skills, err := satchel.New(satchel.WithSkillDirs("skills"), satchel.WithPermissions(satchel.Permissions{HostTools: []permission.Tool{asking}}))
	if err != nil {
		return err
	}
	defer skills.Close()

	// snippet: agents
	triage, err := newAgent(ctx, skills, "triage", "Finds out from a log what went wrong first.")
	if err != nil {
		return err
	}
	lead, err := newAgent(ctx, skills, "lead", "Answers for the team and commits its fixes.", adk.NewAgentTool(ctx, triage))
	// end snippet
	if err != nil {
		return err
	}

	ctx = satchel.WithSession(ctx, "conversation-1")
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: lead}).
		Query(ctx, `The import failed: "01:12 disk full; 01:13 write: I/O error". We doubled the disk. Write the commit message.`)
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		if event.Err != nil {
			return event.Err
		}
		message, _, err := adk.GetMessage(event)
		if err != nil {
			return err
		}
		if message != nil && message.Role == schema.Assistant && message.Content != "" {
			fmt.Fprintln(w, "lead:", message.Content)
		}
	}

	// With the session's context, Loaded returns the skills of all its agents.
	loaded, err := skills.Loaded(ctx)
	if err != nil {
		return err
	}
	for _, l := range loaded {
		fmt.Fprintf(w, "%s has loaded %s\n", l.Agent, l.Skill)
	}
	return nil
}

// newAgent makes an agent with skills. Its name keeps its loads apart from
// those of the other agents in a session.
func newAgent(ctx context.Context, skills *satchel.Runtime, name, purpose string, tools ...tool.BaseTool) (adk.Agent, error) {
	model, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{
		BaseURL: os.Getenv("OPENAI_BASE_URL"),
		APIKey:  os.Getenv("OPENAI_API_KEY"),
		Model:   os.Getenv("OPENAI_MODEL"),
	})
	if err != nil {
		return nil, err
	}
	cfg := &adk.ChatModelAgentConfig{Name: name, Description: purpose, Instruction: "You are " + name + ". " + purpose, Model: model}
	cfg.ToolsConfig.Tools = tools
	if _, err := eino.Install(cfg, skills); err != nil {
		return nil, err
	}
	return adk.NewChatModelAgent(ctx, cfg)
}
