package run

import (
	"context"
	"errors"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/tools"
)

// Exec returns the operation skill_exec: a command that asks for input, or keeps running after
// the call. It keeps running if its skill is unloaded, until it ends, is killed, or its session
// ends. Until then it uses the workspace.
func (r *Runner) Exec() tools.Operation { return r.execOperation(newQueue(r.PerSession, r.AtOnce)) }

func (r *Runner) execOperation(places *queue) tools.Operation {
	r.initHistory()
	return tools.Operation{
		Name:        "skill_exec",
		Description: "skill_run, same parameters, for commands that ask for input or keep running.",
		Fields:      execFields(),
		Kind:        tools.Talks,
		Needs:       []string{"skill_load", "skill_poll_session"},
		Request:     func(args tools.Args) permission.Request { return r.request(args) },
		Call: skilltools.With(func(ctx context.Context, s *skilltools.Scope, args tools.Args) (string, error) {
			req, err := r.planOf(args)
			if err != nil {
				return "", err
			}
			return r.exec(ctx, s, req, args, places)
		}),
	}
}

// execFields returns the fields of skill_run, of which the schema shows two, and those of
// a session.
func execFields() []tools.Field {
	fields := runFields()
	for i := range fields {
		fields[i].Hidden = fields[i].Name != "skill" && fields[i].Name != "command"
	}
	fields = append(fields, tools.Field{Name: "tty", Kind: tools.Flag, Aliases: []string{"pty"}})
	return append(fields, pageFields()...)
}

// exec starts a session and waits a moment for output.
func (r *Runner) exec(ctx context.Context, s *skilltools.Scope, plan *plan, args tools.Args, places *queue) (string, error) {
	if s.Sessions() == nil {
		return "", tools.ModelErrorf("there are no sessions here; use skill_run")
	}
	standard := terminal.DefaultTimeout
	if r.Sessions.Timeout > 0 {
		standard = r.Sessions.Timeout
	}
	st := newStaging(r, s, plan, standard)
	if err := st.choose(ctx); err != nil {
		return "", err
	}
	if err := reachOf(r).check(); err != nil {
		return "", err
	}
	live, cmd, err := st.openSession(ctx, places)
	if err != nil {
		return "", err
	}
	beside := (&answer{st: st, notes: st.notes}).startAnswer()
	if err := st.start(ctx, live, cmd, args.Flag("tty")); err != nil {
		return "", err
	}
	p, err := page(ctx, live, args, pageBytes(r.Limits, s))
	if err != nil {
		return "", err
	}
	if p.IsLast {
		beside = execAnswer{} // the result has it
	}
	return writePage(live, p, beside)
}

// openSession joins the queue, opens a session and prepares its command. After an error it has
// released everything.
func (st *staging) openSession(ctx context.Context, places *queue) (live *terminal.Session, cmd executor.Command, err error) {
	s := st.scope
	after, err := highestNumber(ctx, s)
	if err != nil {
		return nil, cmd, err
	}
	if err := s.Sessions().Revoke(ctx, s.Key().Session); err != nil {
		return nil, cmd, err
	}
	st.network = networkAccessOf(ctx, st.runner, st.skill, st.notes)
	if st.leave, err = places.join(st.queueEntry()); err != nil {
		return nil, cmd, err
	}
	if live, err = s.Sessions().Open(s.Key(), after); err != nil {
		st.leave()
		return nil, cmd, modelError(ctx, err)
	}
	if cmd, err = st.prepare(ctx); err != nil {
		st.leave()
		live.Abandon()
		return nil, cmd, st.notes.modelError(ctx, err)
	}
	if st.runner.Policy.Restricts() {
		if err := st.plan.checkTalk(cmd.Args); err != nil {
			live.Abandon()
			st.release()
			return nil, cmd, err
		}
	}
	if live, err = number(ctx, s, live); err != nil {
		st.release()
		return nil, cmd, modelError(ctx, err)
	}
	if err := st.begin(ctx); err != nil {
		live.Abandon()
		st.release()
		return nil, cmd, err
	}
	return live, cmd, nil
}

// start starts the command of a session. After an error it has released everything.
func (st *staging) start(ctx context.Context, live *terminal.Session, cmd executor.Command, tty bool) error {
	cmd.Stdin = nil
	if tty && lookup(cmd.Env, "TERM") == "" {
		cmd.Env = append(cmd.Env, "TERM=dumb") // no colours, no pagers, no cursor movement
	}
	began := time.Now()
	err := live.Start(ctx, fallback{st.runner.Executor, st.program}, terminal.Process{
		Command: cmd, TTY: tty, Skill: st.skill.Name, Rows: terminalRows, Cols: terminalCols, Secrets: st.notes.secrets, Guess: st.runner.Guess.question(), Revocable: st.revokedGrant,
		Finish: func(ctx context.Context, result executor.Result, err error) []byte {
			defer st.release()
			report, w := st.events.reportEnd(ctx, began, result, err), &answer{st: st, notes: st.notes}
			defer func() { st.reportCommand(ctx, report, cmd.Limits, w.files) }()
			return w.finish(ctx, result, err, live.Tail(maxHintOutput))
		},
	})
	switch {
	case err == nil:
	case errors.Is(err, errors.ErrUnsupported):
		err = tools.ModelErrorf("there is no terminal on this host; call again without tty")
	case errors.Is(err, executor.ErrLost):
		err = tools.ModelErrorf("%s", executor.LostText)
	default:
		err = st.notes.modelError(ctx, err)
	}
	if err != nil {
		st.reportCommand(ctx, st.events.reportEnd(ctx, began, executor.Result{}, err), cmd.Limits, nil)
		st.release()
		return err
	}
	_ = live.Write([]byte(st.plan.stdin), false) // fails if the command has already ended
	return nil
}

// highestNumber returns the highest number of a session of this agent, on any machine.
func highestNumber(ctx context.Context, s *skilltools.Scope) (int, error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return 0, err
	}
	return rec.Terminals, nil
}

// number saves the number of a session that is about to start, so that no other machine uses it.
// If another machine has used it meanwhile, number opens the session again with the next number.
// After an error the session is abandoned.
func number(ctx context.Context, s *skilltools.Scope, live *terminal.Session) (*terminal.Session, error) {
	for {
		after := 0
		_, err := s.Update(ctx, func(rec *state.Record) (*state.Record, string, error) {
			if after = rec.Terminals; after >= live.Number() {
				return nil, "", nil
			}
			next := rec.Clone()
			next.Terminals = live.Number()
			return next, "", nil
		})
		if err == nil && after < live.Number() {
			return live, nil
		}
		live.Abandon()
		if err != nil {
			return nil, err
		}
		if live, err = s.Sessions().Open(s.Key(), after); err != nil {
			return nil, err
		}
	}
}
