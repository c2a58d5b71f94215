// Command first-eino asks an agent of Eino, which has skills, one question.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
)

func main() {
	if err := ask(context.Background(), "Write the release notes for 1.4.0."); err != nil {
		log.Fatal(err)
	}
}

func ask(ctx context.Context, question string) error {
	model, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{
		APIKey: os.Getenv("OPENAI_API_KEY"), Model: os.Getenv("OPENAI_MODEL"), BaseURL: os.Getenv("OPENAI_BASE_URL"),
	})
	if err != nil {
		return err
	}
	config := &adk.ChatModelAgentConfig{Name: "writer", Description: "Writes texts.", Model: model}

	skills, err := satchel.New(satchel.WithSkillDirs("skills")) // folders with a SKILL.md
	if err != nil {
		return err
	}
	defer skills.Close()
	if _, err := eino.Install(config, skills); err != nil {
		return err
	}
	ctx = satchel.WithSession(ctx, "conversation-1")

	agent, err := adk.NewChatModelAgent(ctx, config) // one for each run
	if err != nil {
		return err
	}
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, question)
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		if event.Err != nil {
			return event.Err
		}
		fmt.Println(event.Output.MessageOutput.Message)
	}
	return nil
}
