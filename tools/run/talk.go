package run

import (
	"context"
	"errors"

	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/tools"
)

// WriteStdin returns the operation skill_write_stdin, which sends input to a session.
func (r *Runner) WriteStdin() tools.Operation {
	return tools.Operation{
		Name:        "skill_write_stdin",
		Description: "Send input to skill_exec.",
		Fields: append([]tools.Field{
			sessionField(),
			{Name: "chars", Kind: tools.Value, Schema: map[string]any{"type": "string"}},
			{Name: "submit", Kind: tools.Flag},
			{Name: "eof", Kind: tools.Flag},
		}, pageFields()...),
		Kind:    tools.Talks,
		Session: sessionID,
		Needs:   []string{"skill_exec"},
		Call:    skilltools.With(r.writeStdin),
	}
}

func (r *Runner) writeStdin(ctx context.Context, s *skilltools.Scope, args tools.Args) (string, error) {
	var chars string
	if err := args.Value("chars", &chars); err != nil {
		return "", err
	}
	live, err := sessionOf(ctx, s, args)
	if err != nil {
		return "", err
	}
	if args.Flag("submit") {
		if live.TTY() {
			chars += "\r" // what the Enter key sends
		} else {
			chars += "\n"
		}
	}
	a := execAnswer{Warnings: revoke(ctx, live)}
	if eof := args.Flag("eof"); chars != "" || eof {
		switch err := live.Write([]byte(chars), eof); {
		case errors.Is(err, terminal.ErrEnded):
			a.Warnings = append(a.Warnings, "not sent: the command takes no more input")
		case err != nil:
			return "", tools.ModelErrorf("not sent: %v", err)
		}
	}
	return answerPage(ctx, live, args, pageBytes(r.Limits, s), a)
}

// PollSession returns the operation skill_poll_session, which returns more output of a session,
// or its result.
func (r *Runner) PollSession() tools.Operation {
	return tools.Operation{
		Name:        "skill_poll_session",
		Description: "Get more of skill_exec.",
		Fields: append([]tools.Field{
			sessionField(),
			{Name: "offset", Kind: tools.Count, Hidden: true},
		}, pageFields()...),
		Kind:    tools.Talks,
		Session: sessionID,
		Needs:   []string{"skill_exec"},
		Call: skilltools.With(func(ctx context.Context, s *skilltools.Scope, args tools.Args) (string, error) {
			live, err := sessionOf(ctx, s, args)
			if err != nil {
				return "", err
			}
			return answerPage(ctx, live, args, pageBytes(r.Limits, s), execAnswer{Warnings: revoke(ctx, live)})
		}),
	}
}

// KillSession returns the operation skill_kill_session, which ends a session with all processes
// of its command, and forgets it.
func (r *Runner) KillSession() tools.Operation {
	return tools.Operation{
		Name:        "skill_kill_session",
		Description: "End a session.",
		Fields:      []tools.Field{sessionField()},
		Kind:        tools.Talks,
		Session:     sessionID,
		Needs:       []string{"skill_exec"},
		Call:        skilltools.With(r.killSession),
	}
}

func (r *Runner) killSession(ctx context.Context, s *skilltools.Scope, args tools.Args) (string, error) {
	live, err := sessionOf(ctx, s, args)
	if err != nil {
		return "", err
	}
	killed, err := live.Kill(ctx)
	if err != nil {
		return "", err
	}
	a := execAnswer{Status: statusExited}
	if killed {
		a.Status = statusKilled
	}
	req := terminal.Request{Offset: -1, Bytes: pageBytes(r.Limits, s)}
	p, err := live.Next(ctx, req)
	if err != nil {
		return "", err
	}
	if !p.IsLast { // the result of a command that has ended says more than this
		unread := p.Offset
		req.Offset = p.End - int64(req.Bytes)
		if p, err = live.Next(ctx, req); err != nil {
			return "", err
		}
		a.Warnings = append(a.Warnings, warning("%d bytes before offset %d were not read", p.Offset-unread, p.Offset))
	}
	live.Forget()
	return writePage(live, p, a)
}
