package run

import (
	"context"

	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/tools"
)

// KillSession is skill_kill_session: it ends a session with everything that its
// command started, and forgets it.
func (r *Runner) KillSession() tools.Operation {
	return tools.Operation{
		Name:        "skill_kill_session",
		Description: "End a session. Answers its last output and its result.",
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
	if !p.Ended { // the result of a command that has ended says more than this
		unread := p.Offset
		req.Offset = p.End - int64(req.Bytes)
		if p, err = live.Next(ctx, req); err != nil {
			return "", err
		}
		a.Warnings = append(a.Warnings, warning("%d bytes before offset %d were not read", p.Offset-unread, p.Offset))
	}
	live.Forget()
	return tellPage(live, p, a)
}
