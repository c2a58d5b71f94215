package measure

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/eval"
)

// EvalCommand has the verbs of eval. Without a verb it asks the suites.
type EvalCommand struct {
	Run  EvalRunCommand  `cmd:"" default:"withargs" name:"run" help:"Ask the suites of skills (also without \"run\")."`
	Init EvalInitCommand `cmd:"" help:"Write a first suite for a skill."`
}

// EvalRunCommand asks the requests of suites and reports what came of them.
type EvalRunCommand struct {
	EvalFlags `embed:""`
}

// Help is the long help of the command.
func (EvalRunCommand) Help() string {
	return `Asks the requests of evals/evals.json and evals/eval_queries.json, which skills bring,
and reports per skill what came of them. "satchel eval init SKILL" writes a first suite.
Mode offline needs no model and no network. Modes trigger and outcome play
conversations with the model of OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL.

Exit code: 0 when all was asked, 1 below --min-trigger or --min-pass, after an error of
the endpoint, a stop or a replay that differs, 2 when nothing was asked.`
}

// Run asks the suites.
func (cmd *EvalRunCommand) Run(ctx context.Context, c cli.Console) (err error) {
	if err := cmd.check(); err != nil {
		return err
	}
	var before *eval.Report
	if cmd.Baseline != "" {
		if before, err = readBaseline(cmd.Baseline, eval.Mode(cmd.Mode)); err != nil {
			return err
		}
	}
	if cmd.Searching, err = cmd.EmbedFlags.Options(c.Env); err != nil {
		return err
	}
	skills, err := cmd.SkillDirs.Open(ctx, c, &cmd.LibraryFlags)
	if err != nil {
		return notAsked(err)
	}
	defer func() { err = errors.Join(err, skills.Close()) }()
	suite, err := cmd.suite(ctx, c, skills.Catalog)
	if err != nil {
		return err
	}
	options := cmd.options(c, skills.Catalog)
	if err := cmd.checkReports(); err != nil {
		return err
	}
	report, err := cmd.ask(ctx, c, suite, &options)
	if errors.Is(err, eval.ErrSuite) {
		return notAsked(err)
	}
	if report == nil {
		return err
	}
	if before != nil {
		err = errors.Join(err, report.Compare(before))
	}
	if err := errors.Join(err, cmd.write(c, report)); err != nil {
		return err
	}
	return errors.Join(cmd.minima(c, report), incomplete(c, report))
}

// notAsked makes an error one of a command that has done nothing.
func notAsked(err error) error {
	if errors.Is(err, cli.ErrStart) {
		return err
	}
	return fmt.Errorf("%w: %w", cli.ErrStart, err)
}

// minima says on standard error which skills stay below --min-trigger and --min-pass.
func (cmd *EvalRunCommand) minima(c cli.Console, report *eval.Report) error {
	below := report.Below(cmd.MinTrigger, cmd.MinPass)
	for _, sentence := range below {
		fmt.Fprintf(c.Err, "satchel: %s\n", cli.OneLine(sentence))
	}
	if len(below) > 0 {
		return cli.ErrReported
	}
	return nil
}
