package main

import (
	"context"
	"errors"
	"testing"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/satchel-go/satchel/satcheltest"
)

// TestAgent tests the agent of skills.go as a user would: over HTTP, with a scripted model.
func TestAgent(t *testing.T) {
	t.Chdir("..")
	// snippet: plan
	server, err := satcheltest.Open(satcheltest.Plan(satcheltest.Turn{
		Steps:  []satcheltest.Step{satcheltest.Load("release-notes")},
		Needs:  []string{satcheltest.SkillOpen("release-notes")}, // the text must be in the request
		Answer: "## 1.4.0",
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	model, err := openai.NewChatModel(t.Context(), &openai.ChatModelConfig{BaseURL: server.URL(), APIKey: "none", Model: "scripted"})
	// end snippet
	if err != nil {
		t.Fatal(err)
	}
	cfg := &adk.ChatModelAgentConfig{Name: "writer", Description: "Writes texts.", Model: model}
	// snippet: run
	err = withSkills(t.Context(), cfg, func(ctx context.Context, agentOf newAgent) error {
		agent, err := agentOf()
		if err != nil {
			return err
		}
		events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "Write the release notes.")
		for event, ok := events.Next(); ok; event, ok = events.Next() {
			err = errors.Join(err, event.Err)
		}
		return err
	})
	if requests := server.Requests(); err != nil || len(requests) != 2 || requests[0].Contains(satcheltest.SkillOpen("release-notes")) {
		t.Errorf("error %v, requests %+v", err, requests)
	}
	// end snippet
}
