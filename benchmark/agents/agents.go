package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// agent is a program that people use, and how the scripted model and the player deal with it.
type agent struct {
	name string
	// npm is the package that has the program; empty for Satchel.
	npm string
	// leastTools is the number of tools below which a request is beside the conversation.
	leastTools int
	// asks is how often the model asks for a text that does not come.
	asks int
	// runsWithoutSkills is set if the agent can run commands without skills.
	runsWithoutSkills bool
	// skills is where the agent finds skills, below its working directory.
	skills string
	ask    func(*place, []part) []call
	run    func(*place, Step) []call
	// play sends the prompts of a session, one after the other.
	play func(context.Context, *place, []string) error
}

// place is where one session is played.
type place struct {
	program string
	// work is the working directory and home the home directory of the agent.
	work, home string
	// skills is the directory of the skills, and offered where the agent sees it.
	skills, offered string
	url             string
	// isBare is set if the agent gets no skills.
	isBare bool
	// args are more arguments for Satchel.
	args []string
	log  *os.File
}

// agents are the systems of the table.
func agents() []*agent {
	return []*agent{
		{name: "satchel", asks: 2, ask: askSatchel, run: runSatchel, play: playSatchel},
		{name: "claude", npm: "@anthropic-ai/claude-code", leastTools: 4, asks: 1, runsWithoutSkills: true, skills: ".claude/skills", ask: askClaude, run: runBash("Bash"), play: playClaude},
		{name: "codex", npm: "@openai/codex", leastTools: 4, asks: 1, runsWithoutSkills: true, skills: ".agents/skills", ask: askCodex, run: runCodex, play: playCodex},
		{name: "opencode", npm: "opencode-ai", leastTools: 4, asks: 1, runsWithoutSkills: true, skills: ".opencode/skills", ask: askOpencode, run: runBash("bash"), play: playOpencode},
	}
}

func askSatchel(_ *place, parts []part) []call {
	p := parts[0]
	if p.doc == "" {
		return []call{{"skill_load", object{"skill": p.skill}}}
	}
	var docs []string
	for _, p := range parts {
		if p.anchor != "" {
			p.doc += "#" + p.anchor
		}
		docs = append(docs, p.doc)
	}
	if p.asked > 0 { // the skill was in view and not loaded
		return []call{{"skill_load", object{"skill": p.skill, "docs": docs}}}
	}
	return []call{{"skill_select_docs", object{"skill": p.skill, "docs": docs, "mode": "add"}}}
}

func runSatchel(p *place, s Step) []call {
	var inputs []any
	files, _ := filepath.Glob(filepath.Join(p.work, "*"))
	for _, file := range files {
		inputs = append(inputs, object{"from": "host://" + file})
	}
	return []call{{"skill_run", object{"skill": s.Of, "command": s.Run, "cwd": "$WORK_DIR/inputs", "inputs": inputs}}}
}

// file returns the path at which the agent sees the text of a part.
func (p *place) file(t part) string {
	if t.doc == "" {
		return filepath.Join(p.offered, t.skill, "SKILL.md")
	}
	return filepath.Join(p.offered, t.skill, filepath.FromSlash(t.doc))
}

func askClaude(p *place, parts []part) []call {
	return askFiles(p, parts, "Skill", "skill", "Read", "file_path")
}

func askOpencode(p *place, parts []part) []call {
	return askFiles(p, parts, "skill", "name", "read", "filePath")
}

// askFiles asks for bodies by the tool load and for docs, or lines of them, by the tool read. name
// and path are the parameters for the skill and for the file.
func askFiles(p *place, parts []part, load, name, read, path string) []call {
	var all []call
	for _, t := range parts {
		switch {
		case t.doc == "":
			all = append(all, call{load, object{name: t.skill}})
		case t.anchor == "":
			all = append(all, call{read, object{path: p.file(t)}})
		default:
			all = append(all, call{read, object{path: p.file(t), "offset": t.first, "limit": t.last - t.first + 1}})
		}
	}
	return all
}

func askCodex(p *place, parts []part) []call {
	var all []call
	for _, t := range parts {
		command := "cat " + p.file(t)
		if t.anchor != "" {
			command = fmt.Sprintf("sed -n '%d,%dp' %s", t.first, t.last, p.file(t))
		}
		all = append(all, call{"exec_command", object{"cmd": command}})
	}
	return all
}

func runCodex(_ *place, s Step) []call { return []call{{"exec_command", object{"cmd": s.Run}}} }

func runBash(tool string) func(*place, Step) []call {
	return func(_ *place, s Step) []call {
		return []call{{tool, object{"command": s.Run, "description": "Run a command"}}}
	}
}

// command returns a command of the agent with an environment of its own.
func (p *place) command(ctx context.Context, env []string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, p.program, args...) //nolint:gosec // the agent that the flags name
	c.Dir, c.Stdout, c.Stderr = p.work, p.log, p.log
	path := os.Getenv("PATH")
	// opencode downloads ripgrep if there is none, and waits. The package of codex brings one.
	if found, _ := filepath.Glob(filepath.Join(filepath.Dir(p.program), "../@openai/codex-*/vendor/*/codex-path")); len(found) > 0 {
		path += string(filepath.ListSeparator) + found[0]
	}
	c.Env = append([]string{"PATH=" + path, "HOME=" + p.home, "LANG=C.UTF-8", "TERM=dumb"}, env...)
	return c
}

func playSatchel(ctx context.Context, p *place, prompts []string) error {
	args := []string{"chat", "--framework", "eino", "--json"}
	if !p.isBare {
		args = append(append(args, "--skills", p.skills, "--allow-host", p.work), p.args...)
	}
	env := []string{"OPENAI_BASE_URL=" + p.url + "/v1", "OPENAI_API_KEY=none", "OPENAI_MODEL=scripted"}
	return p.command(ctx, env, append(append(args, "--"), prompts...)...).Run()
}

// playClaude keeps one process, which answers each prompt on its standard input.
func playClaude(ctx context.Context, p *place, prompts []string) error {
	env := []string{
		"ANTHROPIC_BASE_URL=" + p.url, "ANTHROPIC_API_KEY=none", "CLAUDE_CONFIG_DIR=" + filepath.Join(p.home, ".claude"),
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS=1", "DISABLE_AUTOUPDATER=1", "IS_SANDBOX=1",
	}
	args := []string{"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--allowedTools", "Skill,Read,Bash"}
	if p.isBare {
		args = append(args, "--disable-slash-commands")
	}
	c := p.command(ctx, env, args...)
	c.Stdout = nil
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(out)
	for _, prompt := range prompts {
		text := object{"type": "text", "text": prompt}
		fmt.Fprintln(in, compact(object{"type": "user", "message": object{"role": "user", "content": []any{text}}}))
		for line := ""; !strings.Contains(line, `"type":"result"`); {
			if line, err = lines.ReadString('\n'); err != nil {
				return errors.Join(fmt.Errorf("read an answer of claude: %w", err), in.Close(), c.Wait())
			}
			fmt.Fprint(p.log, line)
		}
	}
	return errors.Join(in.Close(), c.Wait())
}

func playCodex(ctx context.Context, p *place, prompts []string) error {
	skills := ""
	if p.isBare {
		skills = "[skills]\ninclude_instructions = false\n"
	}
	config := fmt.Sprintf(`model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = %q
env_key = "SCRIPTED_KEY"
wire_api = "responses"
supports_websockets = false
[projects.%q]
trust_level = "trusted"
[skills.bundled]
enabled = false
[analytics]
enabled = false
%s`, p.url+"/v1", p.work, skills)
	home := filepath.Join(p.home, ".codex")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		return err
	}
	env := []string{"CODEX_HOME=" + home, "SCRIPTED_KEY=none"}
	for i, prompt := range prompts {
		args := []string{"exec"}
		if i > 0 {
			args = append(args, "resume", "--last")
		}
		args = append(args, "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt)
		if err := p.command(ctx, env, args...).Run(); err != nil {
			return fmt.Errorf("turn %d: %w", i+1, err)
		}
	}
	return nil
}
