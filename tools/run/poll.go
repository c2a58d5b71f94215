package run

import (
	"context"

	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/tools"
)

// PollSession is skill_poll_session: more output of a session, or its end.
func (r *Runner) PollSession() tools.Operation {
	return tools.Operation{
		Name:        "skill_poll_session",
		Description: "Get the new output of a session, or its result.",
		Fields: append([]tools.Field{
			sessionField(),
			{Name: "offset", Kind: tools.Count, Description: "begin there; default: after what was answered last"},
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
