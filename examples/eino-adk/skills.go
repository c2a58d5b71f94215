package main

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
)

// withSkills gives the agent of cfg the skills below the directory "skills". Each run has an
// agent of its own, because runs of one agent race in Eino.
func withSkills(ctx context.Context, cfg *adk.ChatModelAgentConfig, talk func(context.Context, newAgent) error) error {
	skills, err := satchel.New(satchel.WithSkillDirs("skills"))
	if err != nil {
		return err
	}
	defer skills.Close()
	if _, err := eino.Install(cfg, skills); err != nil {
		return err
	}
	return talk(satchel.WithSession(ctx, "conversation-1"), func() (adk.Agent, error) { return adk.NewChatModelAgent(ctx, cfg) })
}

type newAgent func() (adk.Agent, error)
