package main

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
)

// withSkills gives the agent of cfg the skills below the directory "skills".
func withSkills(ctx context.Context, cfg *adk.ChatModelAgentConfig, talk func(context.Context, adk.Agent) error) error {
	skills, err := satchel.New(satchel.WithSkillDirs("skills"))
	if err != nil {
		return err
	}
	defer skills.Close()
	if err := eino.Install(cfg, skills); err != nil {
		return err
	}
	agent, err := adk.NewChatModelAgent(ctx, cfg)
	if err != nil {
		return err
	}
	return talk(satchel.WithSession(ctx, "conversation-1"), agent)
}
