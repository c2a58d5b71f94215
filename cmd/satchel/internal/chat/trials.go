package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	staged "github.com/satchel-go/satchel/internal/files/workspace"
	skillrun "github.com/satchel-go/satchel/tools/run"
	"github.com/satchel-go/satchel/workspace"
)

// Trials plays conversations of one turn, side by side, with one runtime. [Flags.OpenTrials] opens
// it.
type Trials struct {
	flags  *Flags
	where  Endpoint
	base   *conversation
	spaces workspace.Places

	mu      sync.Mutex
	running map[string]*trial // by session
}

// TrialSpec describes a conversation of one turn.
type TrialSpec struct {
	// Session names the conversation. Two that run at the same time have different names.
	Session string
	Prompt  string
	// Transport sends the requests.
	Transport http.RoundTripper
	// Without is the name of a skill that the conversation does not have, or "". Load is that of a skill
	// that the host loads before the turn, or "".
	Without, Load string
	// HasWorkspace asks for a workspace with Files, also if no command runs. The caller calls End of
	// the TrialResult.
	HasWorkspace bool
	Files        []workspace.Attachment
}

// TrialResult is what came of a conversation, also of one that failed.
type TrialResult struct {
	Answer string
	// Loaded are the skills that the model has loaded, each once.
	Loaded []string
	// ExitCode is that of the last command, or nil.
	ExitCode *int
	Usage    core.Usage
	Requests int
	// Workspace is the path of the workspace, until End removes it.
	Workspace string
	End       func() error
}

// trial is a conversation that runs.
type trial struct {
	spec TrialSpec

	mu       sync.Mutex
	loaded   []string
	exitCode *int
	usage    core.Usage
	requests atomic.Int64
}

// CloseTrace ends the trace of the conversations, so that its files can be read.
func (t *Trials) CloseTrace() { t.base.tracing.close() }

// OpenTrials opens the runtime that the flags describe. Warnings go to errs.
func (f *Flags) OpenTrials(ctx context.Context, where Endpoint, policy skillrun.Policy, errs io.Writer) (*Trials, error) {
	t := &Trials{flags: f, where: where, running: map[string]*trial{}}
	f.hook, f.more = t.happened, []satchel.Option{satchel.WithAudience(t.audience)}
	f.attached = t.attached
	base, err := f.Open(ctx, where, policy, QuietReporter(errs))
	if err != nil {
		return nil, err
	}
	t.base = base
	base.check(ctx)
	if base.work != nil {
		t.spaces = base.work.runner.Workspaces
		return t, nil
	}
	if t.spaces, err = workspace.Open(ctx, f.Workspaces); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", cli.ErrStart, err), t.Close())
	}
	return t, nil
}

// Close removes what the conversations have left.
func (t *Trials) Close() error {
	var errs []error
	if t.base.work == nil && t.spaces != nil {
		errs = append(errs, t.spaces.Close())
	}
	return errors.Join(append(errs, t.base.end())...)
}

// Executor returns the executor of the commands of skills, nil where nothing may run.
func (t *Trials) Executor() executor.Executor {
	if t.base.work == nil {
		return nil
	}
	return t.base.work.runner.Executor
}

// Play has a conversation of one turn. A model that calls tools until --max-steps has ended its turn
// without an answer; that is no error.
func (t *Trials) Play(ctx context.Context, spec TrialSpec) (result TrialResult, err error) {
	one := &trial{spec: spec}
	if !t.begin(one) {
		return result, fmt.Errorf("session %q runs already", spec.Session)
	}
	ctx = satchel.WithSession(ctx, spec.Session)
	end := sync.OnceValue(func() error { return t.end(spec.Session) })
	result.End = end
	defer func() {
		if !spec.HasWorkspace {
			err = errors.Join(err, end())
		}
	}()
	if spec.HasWorkspace {
		if result.Workspace, err = t.workspace(ctx, one); err != nil {
			return result, err
		}
	}
	flags := *t.flags
	flags.transport = &countingTransport{spec.Transport, &one.requests}
	connect := newEinoAgent
	if flags.Framework == "langchaingo" {
		connect = newLangchainAgent
	}
	agent, err := connect(ctx, t.base.Runtime, t.where, &flags, &history{}, QuietReporter(io.Discard))
	if err != nil {
		return result, err
	}
	if spec.Load != "" {
		ctx = satchel.WithLoads(ctx, satchel.Load{Skill: spec.Load})
	}
	result.Answer, err = agent.Turn(satchel.BeginTurn(ctx, spec.Session), spec.Prompt)
	if errors.Is(err, errSteps) {
		err = nil
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	result.Loaded, result.ExitCode, result.Usage = slices.Clone(one.loaded), one.exitCode, one.usage
	result.Requests = int(one.requests.Load())
	return result, err
}

// begin adds a conversation, unless one of its name runs.
func (t *Trials) begin(one *trial) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running[one.spec.Session] != nil {
		return false
	}
	t.running[one.spec.Session] = one
	return true
}

// workspace opens the workspace of a conversation, and puts its files into it.
func (t *Trials) workspace(ctx context.Context, one *trial) (string, error) {
	places, ok := t.spaces.(staged.Places)
	if !ok {
		return "", fmt.Errorf("workspaces of type %T are not from workspace.Open", t.spaces)
	}
	space, err := places.Of(ctx, one.spec.Session)
	if err != nil {
		return "", err
	}
	defer space.Release()
	files := make([]staged.Attachment, len(one.spec.Files))
	for i, file := range one.spec.Files {
		files[i] = staged.Attachment(file)
	}
	there, warnings, err := space.Attach(ctx, files, staged.Sources{})
	if err != nil {
		return "", err
	}
	if len(there) < len(files) { // the second file of a name only gets a number
		return "", fmt.Errorf("stage files: %s", strings.Join(warnings, "; "))
	}
	return space.Path(), nil
}

// end forgets a conversation and removes its workspace.
func (t *Trials) end(session string) error {
	t.mu.Lock()
	delete(t.running, session)
	t.mu.Unlock()
	var errs []error
	for _, rt := range t.base.helpers {
		errs = append(errs, rt.EndSession(context.Background(), session))
	}
	errs = append(errs, t.base.Runtime.EndSession(context.Background(), session), t.spaces.End(session))
	return errors.Join(errs...)
}

// of returns the conversation that a session is, or nil.
func (t *Trials) of(session string) *trial {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running[session]
}

// attached returns the files of the conversation that the context belongs to.
func (t *Trials) attached(ctx context.Context) []workspace.Attachment {
	key, _ := satchel.KeyFrom(ctx)
	if one := t.of(key.Session); one != nil {
		return one.spec.Files
	}
	return nil
}

// audience hides the skill that a conversation shall not have.
func (t *Trials) audience(_ context.Context, key core.SessionKey) satchel.Audience {
	one := t.of(key.Session)
	if one == nil || one.spec.Without == "" {
		return satchel.Audience{}
	}
	without := one.spec.Without
	return satchel.Audience{Key: "without " + without, Allow: func(s core.Skill) bool {
		return s.Name != without && s.Qualified != without && s.ID != without
	}}
}

// happened notes what a conversation does. Loads by the user and the host, as of a preloaded skill, do
// not count, and neither do those in a fork.
func (t *Trials) happened(_ context.Context, e core.Event) {
	one := t.of(e.Key.Session)
	if one == nil {
		return
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	switch e.Kind {
	case core.SkillLoaded:
		if e.Fork == "" && e.By == "model" {
			one.load(e.Skill)
		}
	case core.ForkBegun:
		one.load(e.Skill)
	case core.ModelCalled:
		one.usage.Prompt += e.Usage.Prompt
		one.usage.Cached += e.Usage.Cached
		one.usage.Completion += e.Usage.Completion
	case core.CommandEnded:
		if e.ExitCode != nil {
			one.exitCode = e.ExitCode
		}
	}
}

func (one *trial) load(skill string) {
	if !slices.Contains(one.loaded, skill) {
		one.loaded = append(one.loaded, skill)
	}
}

// countingTransport counts the requests of a conversation.
type countingTransport struct {
	next http.RoundTripper
	n    *atomic.Int64
}

// RoundTrip implements [http.RoundTripper].
func (t *countingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.n.Add(1)
	return t.next.RoundTrip(r)
}
