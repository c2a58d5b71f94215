package measure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/cmd/satchel/internal/chat"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	skillrun "github.com/satchel-go/satchel/tools/run"
)

// TokenReportCommand prints how many tokens skills take.
type TokenReportCommand struct {
	Framework       string `enum:"eino,langchaingo" default:"eino" placeholder:"NAME" help:"The framework that runs the agent: ${enum} (default ${default})."`
	System          string `placeholder:"TEXT" help:"System message, sent verbatim."`
	MaxSteps        int    `default:"40" placeholder:"N" help:"How many model calls a turn may take (default ${default})."`
	chat.SkillFlags `embed:""`
	chat.GateFlags  `embed:"" group:"Which calls may be made:"`
	chat.RunFlags   `embed:"" group:"Commands that skills run (skill_run, profile full):"`
	Model           string   `placeholder:"NAME" help:"The model that answers. Default: $$OPENAI_MODEL."`
	JSON            bool     `help:"One JSON object."`
	Prompts         []string `arg:"" name:"prompt" help:"One user turn each; they are the task."`
}

// Help is the long help of the command.
func (TokenReportCommand) Help() string {
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

// TokenReport is the result; the names of the fields are stable.
type TokenReport struct {
	Model  string     `json:"model"`
	Skills int        `json:"skills"`
	Runs   []TokenRun `json:"runs"`
	Less   int        `json:"less_prompt_tokens"`
}

// TokenRun counts the tokens of one conversation.
type TokenRun struct {
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
func (cmd *TokenReportCommand) Run(ctx context.Context, c cli.Console) error {
	where, err := chat.NewEndpoint(c.Env, cmd.Model)
	if err != nil {
		return err
	}
	policy, err := chat.PolicyOf(c.Env)
	if err != nil {
		return err
	}
	if cmd.Approve == "ask" {
		return fmt.Errorf("%w: --approve ask: nobody is asked here; use always or never", cli.ErrUsage)
	}
	if err := cmd.SkillDirs.Resolve(ctx, c, true); err != nil {
		return err
	}
	cmd.Remote, cmd.Warnings.Once = len(cmd.MCP) > 0, map[string]bool{} // of both conversations
	report := TokenReport{Model: where.Model}
	for _, mode := range []string{"disclosure", "injected"} {
		flags := chat.Flags{
			Framework: cmd.Framework, System: cmd.System, MaxSteps: cmd.MaxSteps,
			SkillFlags: cmd.SkillFlags, GateFlags: cmd.GateFlags, RunFlags: cmd.RunFlags,
		}
		if mode == "injected" {
			flags.InjectAll()
		}
		run, skills, err := cmd.measure(ctx, &flags, where, policy, mode, c.Err)
		if err != nil {
			return err
		}
		report.Runs, report.Skills = append(report.Runs, run), skills
	}
	report.Less = report.Runs[1].Prompt - report.Runs[0].Prompt
	if err := report.write(c.Out, cmd.JSON); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	for _, run := range report.Runs {
		if run.Answered < run.Turns {
			return cli.ErrReported
		}
		if run.Prompt == 0 {
			return errors.New("the endpoint reports no usage, so there is nothing to compare")
		}
	}
	return nil
}

// measure holds one conversation.
func (cmd *TokenReportCommand) measure(ctx context.Context, flags *chat.Flags, where chat.Endpoint, policy skillrun.Policy, mode string, errs io.Writer) (TokenRun, int, error) {
	run := TokenRun{Mode: mode, Turns: len(cmd.Prompts)}
	show := chat.QuietReporter(errs)
	talk, err := flags.Open(ctx, where, policy, show)
	if err != nil {
		return run, 0, err
	}
	defer talk.Close()
	snapshot := talk.Runtime.Catalog().Snapshot()
	if cmd.Audience != "" {
		a, err := places.ReadAudience(cmd.Audience)
		if err != nil {
			return run, 0, err
		}
		snapshot = snapshot.Filter(a.Allow)
	}
	visible := snapshot.Visible()
	if mode == "injected" {
		loads, err := chat.AllSkills(ctx, talk.Runtime, visible, show)
		if err != nil {
			return run, 0, err
		}
		ctx = satchel.WithLoads(ctx, loads...)
	}
	for _, prompt := range cmd.Prompts {
		if err := talk.Turn(ctx, prompt); err != nil {
			run.Error = cli.OneLine(err.Error())
			break // what follows is another task
		}
		run.Answered++
	}
	spent, requests := show.Spent()
	run.Requests, run.Prompt, run.Cached, run.Completion = requests, spent.Prompt, spent.Cached, spent.Completion
	run.Total = run.Prompt + run.Completion
	return run, len(visible), nil
}

func (r *TokenReport) write(w io.Writer, asJSON bool) error {
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
