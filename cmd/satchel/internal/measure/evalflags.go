package measure

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/eval"
	"github.com/satchel-go/satchel/internal/tracing/tracelog"
	"github.com/satchel-go/satchel/loadmode"
)

// EvalFlags are the flags of eval.
type EvalFlags struct {
	Mode                string           `group:"What is asked:" enum:"offline,trigger,outcome" default:"offline" placeholder:"MODE" help:"offline: search and suggestions, without a model. trigger: whether the model loads the skill. outcome: whether the skill improves the result (default ${default})."`
	Suite               []string         `group:"What is asked:" sep:"none" type:"path" placeholder:"FILE" help:"Ask these suites alone, {skill_name, queries, evals} as JSON or YAML; - is standard input; may be repeated. Default: those of the skills."`
	Runs                int              `group:"What is asked:" name:"runs" short:"n" default:"3" placeholder:"N" help:"How often each request is played (default ${default}); offline once."`
	Threshold           float64          `group:"What is asked:" default:"0.5" placeholder:"RATE" help:"The rate from which on a query counts as triggered (default ${default})."`
	Framework           string           `group:"The model:" enum:"eino,langchaingo" default:"eino" placeholder:"NAME" help:"The framework that runs the agent: ${enum} (default ${default})."`
	System              string           `group:"The model:" placeholder:"TEXT" help:"System message of your agent, sent verbatim."`
	Model               string           `group:"The model:" placeholder:"NAME" help:"The model that is asked. Default: $$OPENAI_MODEL."`
	MaxSteps            int              `group:"The model:" default:"40" placeholder:"N" help:"How many model calls a trial may take (default ${default})."`
	Executor            string           `group:"The model:" enum:"local,sandbox" default:"sandbox" placeholder:"NAME" help:"What runs the commands and scripts of skills: sandbox, or local, without isolation, as you (default ${default})."`
	Readable            []string         `group:"The model:" sep:"none" placeholder:"DIR" help:"Directory that the commands of skills may read; may be repeated."`
	Deps                string           `group:"The model:" placeholder:"DIR" help:"Where satchel deps has installed packages. Default: the directory that it takes by default, if it is there."`
	Judge               string           `group:"The model:" placeholder:"NAME" help:"The model that judges assertions that are sentences; without it they have no verdict."`
	Activation          string           `group:"How its agent is set:" enum:"none,suggest,load" default:"none" placeholder:"HOW" help:"What becomes of skills that a request is likely to mean: suggest names them to the model, load loads the first (default ${default}). Mode offline always says what suggest would name."`
	Preload             []string         `group:"How its agent is set:" placeholder:"NAME,…" help:"Skills whose texts are in every request."`
	Vocabulary          string           `group:"How its agent is set:" enum:"default,runtime-spec" default:"default" placeholder:"NAME" help:"The words of the skill tools: ${enum} (default ${default})."`
	Jobs                int              `group:"The model:" short:"j" default:"1" placeholder:"N" help:"How many trials run at the same time (default ${default})."`
	MaxCost             float64          `group:"What it may cost:" placeholder:"N" help:"Stop when the trials have cost N input tokens, at --prices; 0 is no limit."`
	Prices              *loadmode.Prices `group:"What it may cost:" placeholder:"NAME|R,W,TTL" help:"What the prompt cache charges: anthropic, deepseek, gemini, local, openai, or the prices of reading and writing and the TTL (default 0.1,1.25,5m)."`
	State               string           `group:"What is kept:" type:"path" placeholder:"FILE" help:"Append a line for each finished trial; the same FILE goes on with those that are missing."`
	Record              string           `group:"What is kept:" xor:"cassettes" type:"path" placeholder:"DIR" help:"Keep every exchange with the endpoint in DIR."`
	Replay              string           `group:"What is kept:" xor:"cassettes" type:"path" placeholder:"DIR" help:"Answer from DIR instead of an endpoint; a request that differs fails with the difference."`
	JSON                bool             `group:"The report:" help:"One JSON object on standard output."`
	JUnit               string           `group:"The report:" name:"junit" type:"path" placeholder:"FILE" help:"Write JUnit XML: a suite per skill, a case per request."`
	HTML                string           `group:"The report:" name:"html" type:"path" placeholder:"FILE" help:"Write one HTML page, with the trace of each trial."`
	Baseline            string           `group:"The report:" type:"path" placeholder:"FILE" help:"A report of --json: show what became better or worse since."`
	MinTrigger          *float64         `group:"The report:" placeholder:"RATE" help:"Exit with 1 if a skill triggers less often; offline, if its recall at 1 is less."`
	MinPass             *float64         `group:"The report:" placeholder:"RATE" help:"Exit with 1 if less of a skill's queries pass; with outcome, if the mean pass rate of its evals with the skill is less."`
	places.SkillDirs    `embed:"" group:"Where skills are:"`
	places.LibraryFlags `embed:"" group:"Skills of a library:"`
	places.EmbedFlags   `embed:""`

	trace *tracelog.Trace // of the conversations, nil without --html
}

// check refuses values that no run can have.
func (f *EvalFlags) check() error {
	isRate := func(r float64) bool { return r >= 0 && r <= 1 && !math.IsNaN(r) }
	switch {
	case f.Runs < 1:
		return fmt.Errorf("%w: -n %d: want at least 1", cli.ErrUsage, f.Runs)
	case f.Jobs < 1:
		return fmt.Errorf("%w: -j %d: want at least 1", cli.ErrUsage, f.Jobs)
	case !isRate(f.Threshold) || f.Threshold == 0:
		return fmt.Errorf("%w: --threshold %g: want more than 0 and at most 1", cli.ErrUsage, f.Threshold)
	case f.MaxSteps < 1:
		return fmt.Errorf("%w: --max-steps %d: want at least 1", cli.ErrUsage, f.MaxSteps)
	case f.MaxCost < 0 || math.IsNaN(f.MaxCost):
		return fmt.Errorf("%w: --max-cost %g: want 0, which is no limit, or more", cli.ErrUsage, f.MaxCost)
	case f.MinTrigger != nil && !isRate(*f.MinTrigger):
		return fmt.Errorf("%w: --min-trigger %g: want 0 to 1", cli.ErrUsage, *f.MinTrigger)
	case f.MinPass != nil && !isRate(*f.MinPass):
		return fmt.Errorf("%w: --min-pass %g: want 0 to 1", cli.ErrUsage, *f.MinPass)
	case f.MinTrigger != nil && f.Mode == string(eval.Outcome):
		return fmt.Errorf("%w: --min-trigger needs --mode trigger or offline", cli.ErrUsage)
	}
	return nil
}

// suite reads the suites that the flags name, or those of the skills.
func (f *EvalFlags) suite(ctx context.Context, c cli.Console, skills *catalog.Catalog) (*eval.Suite, error) {
	suite := new(eval.Suite)
	for _, file := range f.Suite {
		read, err := f.readSuite(c, file, skills)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", cli.ErrStart, err)
		}
		suite.Add(read)
	}
	if len(f.Suite) == 0 {
		read, err := eval.OfSkills(ctx, skills)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", cli.ErrStart, err)
		}
		suite = read
	}
	if len(suite.Queries)+len(suite.Evals) == 0 {
		return nil, fmt.Errorf("%w: %w", cli.ErrStart, f.noSuite(ctx, skills))
	}
	return suite, nil
}

// noSuite says where suites were looked for.
func (f *EvalFlags) noSuite(ctx context.Context, skills *catalog.Catalog) error {
	if len(f.Suite) > 0 {
		return fmt.Errorf("%s: no queries and no evals", strings.Join(f.Suite, ", "))
	}
	if f.Audience != "" {
		if all, err := eval.OfSkills(ctx, skills.WithoutAudience()); err == nil && len(all.Skills()) > 0 {
			return fmt.Errorf("--audience %s allows no skill that brings a suite, and leaves out %s", f.Audience, strings.Join(all.Skills(), ", "))
		}
	}
	return fmt.Errorf("no skill brings queries or evals: looked for evals.json and eval_queries.json, or .yaml or .yml, in the folders of %s and in their folders evals; write one: satchel eval init SKILL",
		cli.Count(skills.Snapshot().Len(), "skill"))
}

// readSuite reads a file of --suite; "-" is standard input.
func (f *EvalFlags) readSuite(c cli.Console, file string, skills *catalog.Catalog) (*eval.Suite, error) {
	var content bytes.Buffer // what was read of standard input
	read := func(skills *catalog.Catalog) (*eval.Suite, error) {
		if file == "-" {
			return eval.Read(io.MultiReader(bytes.NewReader(content.Bytes()), io.TeeReader(c.In, &content)), "standard input", skills)
		}
		return eval.ReadFile(file, skills)
	}
	suite, err := read(skills)
	if err != nil && f.Audience != "" {
		if all, allErr := read(skills.WithoutAudience()); allErr == nil {
			return nil, fmt.Errorf("%w: %s: --audience %s does not allow %s: add it under \"allow\", or ask without the flag", eval.ErrSuite, file, f.Audience, strings.Join(all.Skills(), ", "))
		}
	}
	return suite, err
}

// options returns how the suites are asked.
func (f *EvalFlags) options(c cli.Console, skills *catalog.Catalog) eval.Options {
	return eval.Options{
		Mode: eval.Mode(f.Mode), Catalog: skills, Runs: f.Runs, Threshold: f.Threshold, Jobs: f.Jobs,
		Progress: evalProgress(c),
	}
}
