package tools

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel/terminal"
)

// KillSession is skill_kill_session: it ends a session and all that its command
// started, and forgets it.
func (r *Runner) KillSession() Operation {
	return Operation{
		Name:        "skill_kill_session",
		Description: "End a session. Answers its last output and its result.",
		Fields:      []Field{sessionField()},
		Ordered:     true,
		Needs:       []string{"skill_exec"},
		Call:        r.killSession,
	}
}

func (r *Runner) killSession(ctx context.Context, s *Scope, args Args) (string, error) {
	live, err := s.session(args)
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
	req := terminal.Request{Offset: -1, Bytes: r.pageBytes()}
	p, err := live.Next(ctx, req)
	if err != nil {
		return "", err
	}
	if !p.Ended { // the end says more than what comes next
		unread := p.Offset
		req.Offset = p.End - int64(req.Bytes)
		if p, err = live.Next(ctx, req); err != nil {
			return "", err
		}
		a.Warnings = append(a.Warnings, fmt.Sprintf("%d bytes before offset %d were not read", p.Offset-unread, p.Offset))
	}
	live.Forget()
	return tellPage(live, p, a)
}
