package tools

import "context"

// PollSession is skill_poll_session: more output of a session, or its end.
func (r *Runner) PollSession() Operation {
	return Operation{
		Name:        "skill_poll_session",
		Description: "Get the new output of a session, or its result.",
		Fields: append([]Field{
			sessionField(),
			{Name: "offset", Kind: Count, Description: "begin there; default: after what was answered last"},
		}, pageFields()...),
		Ordered: true,
		Needs:   []string{"skill_exec"},
		Call: func(ctx context.Context, s *Scope, args Args) (string, error) {
			live, err := s.session(args)
			if err != nil {
				return "", err
			}
			return r.answerPage(ctx, live, args, execAnswer{})
		},
	}
}
