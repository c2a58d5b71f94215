package run

import (
	"context"
	"errors"

	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/tools"
)

// WriteStdin is skill_write_stdin: input for a session.
func (r *Runner) WriteStdin() tools.Operation {
	return tools.Operation{
		Name:        "skill_write_stdin",
		Description: "Send input to a session and get the new output.",
		Fields: append([]tools.Field{
			sessionField(),
			{Name: "chars", Kind: tools.Value, Schema: map[string]any{"type": "string"}, Description: `as they are; "\u0003" is Ctrl-C in a terminal`},
			{Name: "submit", Kind: tools.Flag, Description: "then Enter"},
			{Name: "eof", Kind: tools.Flag, Description: "then the end of input"},
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
