// Program walk plays the beginning of a conversation: the model loads a skill, and is called
// again. It writes which statements ran in between into the directory of its argument.
package main

import (
	"context"
	"log"
	"os"
	"runtime/coverage"
	"testing/fstest"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
)

var skills = fstest.MapFS{
	"greeting/SKILL.md": {Data: []byte("---\nname: greeting\ndescription: How to greet people.\n---\nSay \"Ahoy\".\n")},
	"farewell/SKILL.md": {Data: []byte("---\nname: farewell\ndescription: How to part.\n---\nSay \"Bye\".\n")},
}

// scripted is a model that loads a skill first, and then answers.
type scripted struct {
	dir   string
	calls int
}

func (s *scripted) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	if s.calls++; s.calls == 1 {
		return schema.AssistantMessage("", []schema.ToolCall{{
			ID: "1", Type: "function", Function: schema.FunctionCall{Name: "skill_load", Arguments: `{"skill":"greeting"}`},
		}}), coverage.ClearCounters()
	}
	if s.calls == 2 {
		if err := coverage.WriteCountersDir(s.dir); err != nil {
			return nil, err
		}
		if err := coverage.WriteMetaDir(s.dir); err != nil {
			return nil, err
		}
	}
	return schema.AssistantMessage("Ahoy!", nil), nil
}

func (s *scripted) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	m, err := s.Generate(ctx, in, opts...)
	return schema.StreamReaderFromArray([]*schema.Message{m}), err
}

func (s *scripted) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return s, nil }

func main() {
	if err := play(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func play(dir string) error {
	rt, err := satchel.New(satchel.WithSkillFS("skills", skills))
	if err != nil {
		return err
	}
	defer rt.Close()
	llm := &scripted{dir: dir}
	cfg := &adk.ChatModelAgentConfig{Name: "greeter", Description: "Greets people.", Instruction: "You greet people.", Model: llm}
	if _, err := eino.Install(cfg, rt); err != nil {
		return err
	}
	ctx := satchel.WithSession(context.Background(), "1")
	agent, err := adk.NewChatModelAgent(ctx, cfg)
	if err != nil {
		return err
	}
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "Say hello.")
	for e, ok := events.Next(); ok; e, ok = events.Next() {
		if e.Err != nil {
			return e.Err
		}
	}
	return nil
}
