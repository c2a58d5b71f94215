package measure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/cmd/satchel/internal/chat"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/eval"
	"github.com/satchel-go/satchel/internal/files/collect"
	"github.com/satchel-go/satchel/workspace"
)

// evalPlayer plays the conversations of an eval with the model of an endpoint, or from cassettes.
type evalPlayer struct {
	trials       *chat.Trials
	where, judge chat.Endpoint
	tapes        *cassettes // nil without cassettes
	transport    *http.Transport
	traces       *evalTraces // nil without --html

	hasPlayed atomic.Bool

	c     cli.Console
	mu    sync.Mutex
	shown map[string]bool // errors
}

// ask asks the requests of a suite. Ctrl-C ends the conversations, and the report has what came before.
func (f *EvalFlags) ask(ctx context.Context, c cli.Console, suite *eval.Suite, o *eval.Options) (report *eval.Report, err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.Mode == eval.Offline {
		return eval.Run(ctx, suite, *o)
	}
	p, err := f.player(ctx, c, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	report, err = eval.Run(ctx, suite, *o)
	if err != nil && !p.hasPlayed.Load() {
		err = notAsked(err)
	}
	if c.Attended {
		fmt.Fprint(c.Err, "\r\x1b[K") // the line of progress
	}
	if report != nil && p.traces != nil {
		p.trials.CloseTrace()
		trace, readErr := p.traces.read()
		f.trace, err = trace, errors.Join(err, readErr)
	}
	return report, err
}

// player opens what plays the conversations, and adds it to the options. The caller closes it.
func (f *EvalFlags) player(ctx context.Context, c cli.Console, o *eval.Options) (_ *evalPlayer, err error) {
	p := &evalPlayer{c: c, shown: map[string]bool{}, transport: http.DefaultTransport.(*http.Transport).Clone()}
	p.transport.MaxIdleConnsPerHost = f.Jobs
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if f.Replay != "" {
		if p.tapes, err = replayCassettes(f.Replay); err != nil {
			return p, fmt.Errorf("%w: --replay: %w", cli.ErrStart, err)
		}
	}
	if p.where, err = chat.NewEndpoint(p.env(f), f.Model); err != nil {
		return p, err
	}
	if p.tapes != nil { // requests are compared as they were recorded, without the key
		p.tapes.key = p.where.Key
	}
	if f.Record != "" {
		if p.tapes, err = recordCassettes(f.Record, p.where.Key, p.transport); err != nil {
			return p, fmt.Errorf("%w: --record: %w", cli.ErrStart, err)
		}
	}
	policy, err := chat.PolicyOf(c.Env)
	if err != nil {
		return p, err
	}
	agent := f.agent()
	agent.ReadLibrary(f.LibraryFlags, c.Env)
	if f.HTML != "" {
		if p.traces, err = openEvalTraces(f.State); err != nil {
			return p, fmt.Errorf("%w: --html: %w", cli.ErrStart, err)
		}
		agent.TraceFlags = p.traces.flags()
	}
	if p.trials, err = agent.OpenTrials(ctx, p.where, policy, c.Err); err != nil {
		return p, err
	}
	o.Play, o.Executor, o.MaxCost, o.State = p.play, p.trials.Executor(), f.MaxCost, f.State
	if f.Prices != nil {
		o.Prices = *f.Prices
	}
	if f.Judge != "" {
		p.judge = p.where
		p.judge.Model = f.Judge
		o.Judge = p.askJudge
	}
	o.About = fmt.Sprintf("%q %q %q %q %d", f.Framework, p.where.Model, f.System, f.Judge, f.MaxSteps)
	if f.Activation != "none" || len(f.Preload) > 0 || f.Vocabulary != "default" {
		o.About += fmt.Sprintf(" %q %q %q", f.Activation, f.Preload, f.Vocabulary)
	}
	return p, nil
}

// env returns the environment of the endpoint. Cassettes need none: they name the model, and the
// requests go nowhere.
func (p *evalPlayer) env(f *EvalFlags) func(string) string {
	if f.Replay == "" {
		return p.c.Env
	}
	return func(name string) string {
		value := p.c.Env(name)
		switch {
		case name == "OPENAI_BASE_URL":
			return "http://cassettes.invalid/v1"
		case name == "OPENAI_MODEL" && value == "" && f.Model == "":
			for _, model := range p.tapes.Models() {
				if model != f.Judge {
					return model
				}
			}
			return f.Judge
		}
		return value
	}
}

// agent returns the flags of the agent whose conversations are played. It does not see the suites: they
// say what is expected.
func (f *EvalFlags) agent() *chat.Flags {
	dirs := f.SkillDirs
	dirs.Reading = append(slices.Clip(dirs.Reading), catalog.WithoutFiles(append(eval.SuiteNames(), "evals")...))
	return &chat.Flags{
		Framework: f.Framework, System: f.System, MaxSteps: f.MaxSteps,
		SkillFlags: chat.SkillFlags{
			SkillDirs: dirs, EmbedFlags: f.EmbedFlags, Placement: "auto", MaxLoaded: evalMaxLoaded, Profile: "full", Search: "auto",
			Activation: f.Activation, Preload: f.Preload, Vocabulary: f.Vocabulary,
		},
		GateFlags: chat.GateFlags{Approve: "always", Remote: len(f.MCP) > 0},
		RunFlags:  chat.RunFlags{Executor: f.Executor, Readable: f.Readable, Deps: f.Deps},
	}
}

// play has the conversation of a trial.
func (p *evalPlayer) play(ctx context.Context, trial eval.Trial) (played eval.Played, err error) {
	p.hasPlayed.Store(true)
	defer func() { p.show(ctx, trialText(trial), err) }()
	tape, transport, err := p.tape(trial.Name())
	if err != nil {
		return played, err
	}
	spec := chat.TrialSpec{Session: p.traces.session(trial.Name()), Prompt: trial.Prompt(), Transport: transport, HasWorkspace: trial.Eval != nil}
	if trial.Without {
		spec.Without = trial.Skill()
	}
	if trial.Loaded {
		spec.Load = trial.Skill()
	}
	for _, input := range trial.Inputs {
		mime := collect.MIME(input.Name, input.Data[:min(len(input.Data), evalSniffed)])
		spec.Files = append(spec.Files, workspace.Attachment{Name: input.Name, As: input.Name, MIME: mime, Data: input.Data})
	}
	within, cancel := context.WithTimeout(ctx, evalTrialTime)
	defer cancel()
	result, err := p.trials.Play(within, spec)
	played = eval.Played{
		Answer: result.Answer, Loaded: result.Loaded, ExitCode: result.ExitCode, Workspace: result.Workspace, End: result.End,
		Requests: result.Requests, Usage: result.Usage,
	}
	if p.traces != nil && result.Requests > 0 {
		played.Trace = spec.Session + "/1" // its first call
	}
	return played, finish(ctx, tape, err)
}

// askJudge asks the judge about an assertion.
func (p *evalPlayer) askJudge(ctx context.Context, q eval.Question) (said eval.Played, err error) {
	defer func() { p.show(ctx, fmt.Sprintf("%s, judge of assertion %d", trialText(q.Trial), q.Assertion+1), err) }()
	tape, transport, err := p.tape(q.Name())
	if err != nil {
		return said, err
	}
	within, cancel := context.WithTimeout(ctx, evalTrialTime)
	defer cancel()
	said.Requests = 1
	said.Answer, said.Usage, err = chat.Complete(within, p.judge, transport, q.System, q.Text)
	return said, finish(ctx, tape, err)
}

// tape opens the cassette of a conversation. Without cassettes it is nil, and requests go to the
// endpoint.
func (p *evalPlayer) tape(name string) (*cassette, http.RoundTripper, error) {
	if p.tapes == nil {
		return nil, p.transport, nil
	}
	tape, err := p.tapes.Open(name)
	if err != nil {
		return nil, nil, err
	}
	return tape, tape, nil
}

// finish saves what a conversation has recorded, unless it was cancelled. Its error is the difference
// from a cassette if there is one, because frameworks put other words around it.
func finish(ctx context.Context, tape *cassette, err error) error {
	if tape == nil || ctx.Err() != nil {
		return err
	}
	if diff := tape.Err(); diff != nil {
		return diff
	}
	return errors.Join(err, tape.Save())
}

// trialText names a trial for people.
func trialText(t eval.Trial) string {
	asked := fmt.Sprintf("%q", cli.Shorten(t.Prompt(), evalPromptShown))
	switch {
	case t.Eval != nil && t.Without:
		asked = "eval " + t.Eval.ID + " without the skill"
	case t.Eval != nil:
		asked = "eval " + t.Eval.ID
	}
	return fmt.Sprintf("%s: %s, trial %d", t.Skill(), asked, t.Number)
}

// show prints an error of a conversation with the first trial that has it, and not all of many. A
// difference names the cassette of its trial.
func (p *evalPlayer) show(ctx context.Context, trial string, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	text := err.Error()
	if p.shown[text] || len(p.shown) >= evalErrors {
		return
	}
	p.shown[text] = true
	if p.c.Attended {
		fmt.Fprint(p.c.Err, "\r\x1b[K") // the line of progress
	}
	if _, isDiff := errors.AsType[*cassetteDifference](err); !isDiff {
		text = cli.OneLine(trial + ": " + text)
	}
	fmt.Fprint(p.c.Err, "satchel: ", cli.PrintableDiff(strings.TrimSuffix(text, "\n")+"\n"))
}

// incomplete says on standard error what is missing in a report, and returns the error for that.
func incomplete(c cli.Console, report *eval.Report) error {
	n := report.Errors()
	if report.Stopped != "" {
		fmt.Fprintln(c.Err, "satchel: stopped before the last trial:", report.Stopped)
	}
	if n > 0 {
		fmt.Fprintln(c.Err, "satchel:", cli.Count(n, "trial"), "ended with an error")
	}
	unjudged := report.JudgeErrors()
	if unjudged > 0 {
		fmt.Fprintln(c.Err, "satchel: the judge has failed for", cli.Count(unjudged, "assertion"))
	}
	if n+unjudged > 0 || report.Stopped != "" {
		return cli.ErrReported
	}
	return nil
}

// Close closes what was opened.
func (p *evalPlayer) Close() error {
	var errs []error
	if p.trials != nil {
		errs = append(errs, p.trials.Close())
	}
	p.transport.CloseIdleConnections()
	return errors.Join(append(errs, p.tapes.Close(), p.traces.close())...)
}
