package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	skillrun "github.com/satchel-go/satchel/tools/run"
)

type tokenReportCmd struct {
	Framework  string `enum:"eino,langchaingo" default:"eino" placeholder:"NAME" help:"The framework that runs the agent: ${enum} (default ${default})."`
	System     string `placeholder:"TEXT" help:"System message, sent verbatim."`
	MaxSteps   int    `default:"40" placeholder:"N" help:"How many model calls a turn may take (default ${default})."`
	skillFlags `embed:""`
	gateFlags  `embed:"" group:"Which calls may be made:"`
	runFlags   `embed:"" group:"Commands that skills run (skill_run, profile full):"`
	Model      string   `placeholder:"NAME" help:"The model that answers. Default: $$OPENAI_MODEL."`
	JSON       bool     `help:"One JSON object."`
	Prompts    []string `arg:"" name:"prompt" help:"One user turn each; they are the task."`
}

// Help is the long help of the command.
func (tokenReportCmd) Help() string {
	return `Gives one task to a model of yours twice, and adds up the tokens that its endpoint reports:
once as an agent works with skills, which sees what they are for and loads what it needs
(disclosure), and once with the texts and docs of all skills in front of the conversation
(injected). The tools are the same. Both are real conversations and cost what they cost; a
model need not do the same in both, so repeat what you rely on.

The endpoint is that of satchel chat (OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL).

The object of --json has the fields model, skills, runs and less_prompt_tokens (of
disclosure, negative where it took more); those of runs are mode, turns, answered,
requests, prompt_tokens, cached_tokens, completion_tokens, total_tokens and, where a turn
was not answered, error.

Exit code: 0 when every turn was answered, 1 when one was not or the endpoint reports no
usage, 2 when nothing was tried.`
}

// tokenReport is the result; the names of the fields are stable.
type tokenReport struct {
	Model  string     `json:"model"`
	Skills int        `json:"skills"`
	Runs   []tokenRun `json:"runs"`
	Less   int        `json:"less_prompt_tokens"`
}

// tokenRun is what one conversation took.
type tokenRun struct {
	Mode       string `json:"mode"`
	Turns      int    `json:"turns"`
	Answered   int    `json:"answered"`
	Requests   int    `json:"requests"`
	Prompt     int    `json:"prompt_tokens"`
	Cached     int    `json:"cached_tokens"`
	Completion int    `json:"completion_tokens"`
	Total      int    `json:"total_tokens"`
	Error      string `json:"error,omitempty"`
}

// Run holds both conversations and compares them.
func (cmd *tokenReportCmd) Run(ctx context.Context, c console) error {
	where, err := newEndpoint(c.env, cmd.Model)
	if err != nil {
		return err
	}
	policy, err := newPolicy(c.env)
	if err != nil {
		return err
	}
	if cmd.Approve == "ask" {
		return fmt.Errorf("%w: --approve ask: nobody is asked here; use always or never", errUsage)
	}
	if err := cmd.skillDirs.resolve(ctx, c, true); err != nil {
		return err
	}
	cmd.remote, cmd.told.once = len(cmd.MCP) > 0, map[string]bool{} // of both conversations
	report := tokenReport{Model: where.model}
	for _, mode := range []string{"disclosure", "injected"} {
		flags := chatFlags{
			Framework: cmd.Framework, System: cmd.System, MaxSteps: cmd.MaxSteps,
			skillFlags: cmd.skillFlags, gateFlags: cmd.gateFlags, runFlags: cmd.runFlags,
		}
		if mode == "injected" {
			flags.injectAll()
		}
		run, skills, err := cmd.measure(ctx, &flags, where, policy, mode, c.err)
		if err != nil {
			return err
		}
		report.Runs, report.Skills = append(report.Runs, run), skills
	}
	report.Less = report.Runs[1].Prompt - report.Runs[0].Prompt
	if err := report.write(c.out, cmd.JSON); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	for _, run := range report.Runs {
		if run.Answered < run.Turns {
			return errReported
		}
		if run.Prompt == 0 {
			return errors.New("the endpoint reports no usage, so there is nothing to compare")
		}
	}
	return nil
}

// injectAll sets the flags with which all skills can be in view, and no list of them is.
func (f *chatFlags) injectAll() {
	mode := loadmode.Session
	f.LoadMode, f.Placement, f.Search, f.MaxLoaded, f.Budget = &mode, "system", "off", 0, &contentBudget{}
	f.Activation, f.Mentions, f.Compact, f.References = "none", nil, nil, "off"
	f.unlisted = true
}

// measure holds one conversation.
func (cmd *tokenReportCmd) measure(ctx context.Context, flags *chatFlags, where endpoint, policy skillrun.Policy, mode string, errs io.Writer) (tokenRun, int, error) {
	run := tokenRun{Mode: mode, Turns: len(cmd.Prompts)}
	show := &reporter{out: io.Discard, err: errs}
	chat, err := flags.open(ctx, where, policy, show)
	if err != nil {
		return run, 0, err
	}
	defer chat.close()
	snapshot := chat.runtime.Catalog().Snapshot()
	if cmd.Audience != "" {
		a, err := readAudience(cmd.Audience)
		if err != nil {
			return run, 0, err
		}
		snapshot = snapshot.Allowed(a.Allow)
	}
	visible := snapshot.Visible()
	if mode == "injected" {
		loads, err := everything(ctx, chat.runtime, visible, show)
		if err != nil {
			return run, 0, err
		}
		ctx = satchel.WithLoads(ctx, loads...)
	}
	for _, prompt := range cmd.Prompts {
		if err := chat.turn(ctx, prompt); err != nil {
			run.Error = inLine(err.Error())
			break // what follows is another task
		}
		run.Answered++
	}
	spent, requests := show.Spent()
	run.Requests, run.Prompt, run.Cached, run.Completion = requests, spent.Prompt, spent.Cached, spent.Completion
	run.Total = run.Prompt + run.Completion
	return run, len(visible), nil
}

// everything are loads of all skills with those of their docs that can be read.
func everything(ctx context.Context, rt *satchel.Runtime, skills []core.Skill, show *reporter) ([]satchel.Load, error) {
	var loads []satchel.Load
	for _, skill := range skills {
		names, err := rt.Catalog().Docs(ctx, skill.Name)
		if err != nil {
			return nil, fmt.Errorf("list docs of %q: %w", skill.Name, err)
		}
		load := satchel.Load{Skill: skill.Name}
		for _, name := range names {
			if _, err := rt.Catalog().Doc(ctx, skill.Name, name); err != nil {
				show.Warning(fmt.Sprintf("left out: %s of %s: %v", name, skill.Name, err))
				continue
			}
			load.Docs = append(load.Docs, name)
		}
		loads = append(loads, load)
	}
	return loads, nil
}

func (r *tokenReport) write(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		return e.Encode(r)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "mode\trequests\tprompt tokens\tcached\tcompletion\ttotal\tanswered\t\n")
	for _, run := range r.Runs {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d of %d\t\n", run.Mode, run.Requests, run.Prompt, run.Cached, run.Completion, run.Total, run.Answered, run.Turns)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	line := ""
	switch whole := r.Runs[1].Prompt; {
	case r.Runs[0].Answered < r.Runs[0].Turns || r.Runs[1].Answered < r.Runs[1].Turns:
		line = "not every turn was answered: the rows are not of the same task\n"
	case r.Less >= 0 && whole > 0:
		line = fmt.Sprintf("%d skills: disclosure took %d prompt tokens less, %s of those with everything injected\n", r.Skills, r.Less, percent(r.Less, whole))
	case whole > 0:
		line = fmt.Sprintf("%d skills: disclosure took %d prompt tokens more than everything injected\n", r.Skills, -r.Less)
	}
	_, err := io.WriteString(w, line)
	return err
}
