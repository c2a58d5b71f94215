package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// playOpencode starts opencode for each prompt. It takes seconds to start, and more without a
// network.
func playOpencode(ctx context.Context, p *place, prompts []string) error {
	config := object{
		"autoupdate": false, "share": "disabled", "model": "scripted/m", "small_model": "scripted/m", "permission": "allow",
		"provider": object{"scripted": object{
			"npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": object{"baseURL": p.url + "/v1", "apiKey": "none"},
			"models": object{"m": object{"name": "m", "tool_call": true, "limit": object{"context": 400_000, "output": 32_000}}},
		}},
	}
	if p.isBare {
		config["permission"] = object{"*": "allow", "skill": "deny"}
	}
	if err := os.WriteFile(filepath.Join(p.work, "opencode.json"), []byte(compact(config)), 0o600); err != nil {
		return err
	}
	env := []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1"}
	for i, prompt := range prompts {
		args := []string{"run", "--title", "work"}
		if i > 0 {
			args = append(args, "--continue")
		}
		if err := p.command(ctx, env, append(args, prompt)...).Run(); err != nil {
			return fmt.Errorf("turn %d: %w", i+1, err)
		}
	}
	return nil
}
