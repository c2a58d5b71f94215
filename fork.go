package satchel

import (
	"cmp"
	"context"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/call"
)

// Fork says which skills run as agents of their own, and how. A load of such a skill by the model
// runs an agent with the skill as its task. The answer to the load is the answer of that agent.
type Fork struct {
	// Run runs the agent of a skill and returns its answer. eino.Fork and langchaingo.Fork return
	// such a function. Its context names the session and the turn of the agent. A panic and an
	// error of Run become the answer, except an adapter.ForkInterrupt, which stops the calling
	// agent too.
	Run func(context.Context, ForkRequest) (string, error)
	// Skills names skills that run so although their front matter does not ask for it. A name that
	// matches no skill is an error of New.
	Skills []string
	// MaxTurns limits the model calls of one agent; 0 means 20.
	MaxTurns int
}

// ForkRequest describes the agent that a [Fork] runs. The requests that the agent prepares under the
// context of Run with Key begin with the skill, and have no list of skills.
type ForkRequest struct {
	// Runtime is the runtime that has the skill.
	Runtime *Runtime
	// Key is the key of the agent, in the session of Parent, the agent that loads the skill. Its
	// Agent is "PARENT/fork:NAME#N", where N counts the forks of the parent.
	Key, Parent core.SessionKey
	// Skill is the skill. Its fields Agent and Model are the names that its author wants.
	Skill core.Skill
	// Task is the message of the user to the agent. The view of the runtime adds Text to it, the
	// text of the skill.
	Task, Text string
	// HasHistory reports that the skill asks for the conversation before its task.
	HasHistory bool
	// MaxTurns limits the model calls. [Runtime.Prepare] counts them, and fails above the limit.
	MaxTurns int
}

// WithFork runs skills as agents of their own: those whose front matter has context: fork or
// fork_with_context, and those that f names. Such a fork has its own state, which ends with it. The
// gate, the approver, the lists of allowed tools, the audience and the workspace are those of the
// agent that loads the skill. In a fork, a load of a skill that would run so loads it as usual. Loads
// that the host declares and those that a user's message makes are no forks. Without the option the
// field context is ignored, and [Runtime.Diagnostics] says so.
func WithFork(f Fork) Option {
	wrong := cmp.Or(
		errorIf(f.Run == nil, "Run is nil: use eino.Fork or langchaingo.Fork"),
		errorIf(f.MaxTurns < 0, "MaxTurns: %d: use 0 for the default, or more", f.MaxTurns),
	)
	return single("WithFork", wrong, func(s *config) {
		s.fork = &call.Forks{Run: f.run, Skills: f.Skills, MaxTurns: cmp.Or(f.MaxTurns, defaultForkTurns)}
	})
}

// run calls Run for the runtime of ctx.
func (f *Fork) run(ctx context.Context, q call.ForkRequest) (string, error) {
	r, _ := ctx.Value(runtimeKey{}).(*Runtime)
	return f.Run(ctx, ForkRequest{
		Runtime: r, Key: q.Key, Parent: q.Parent, Skill: q.Skill, Task: q.Task, Text: q.Text,
		HasHistory: q.Skill.Context == call.ContextForkHistory, MaxTurns: q.MaxTurns,
	})
}

type runtimeKey struct{}

// forks returns the settings of WithFork for calls of the runtime, nil for none.
func (r *Runtime) forks() *call.Forks {
	if r.fork == nil {
		return nil
	}
	own := *r.fork
	own.Run = func(ctx context.Context, q call.ForkRequest) (string, error) {
		return r.fork.Run(context.WithValue(ctx, runtimeKey{}, r), q)
	}
	return &own
}
