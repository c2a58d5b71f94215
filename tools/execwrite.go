package tools

import (
	"context"
	"errors"

	"github.com/satchel-go/satchel/terminal"
)

// WriteStdin is skill_write_stdin: input for a session.
func (r *Runner) WriteStdin() Operation {
	return Operation{
		Name:        "skill_write_stdin",
		Description: "Send input to a session and get the new output.",
		Fields: append([]Field{
			sessionField(),
			{Name: "chars", Kind: Value, Schema: map[string]any{"type": "string"}, Description: `as they are; "\u0003" is Ctrl-C in a terminal`},
			{Name: "submit", Kind: Flag, Description: "then Enter"},
			{Name: "eof", Kind: Flag, Description: "then the end of input"},
		}, pageFields()...),
		Ordered: true,
		Needs:   []string{"skill_exec"},
		Call:    r.writeStdin,
	}
}

func (r *Runner) writeStdin(ctx context.Context, s *Scope, args Args) (string, error) {
	var chars string
	if err := args.Decode("chars", &chars); err != nil {
		return "", err
	}
	live, err := s.session(args)
	if err != nil {
		return "", err
	}
	if args.Flag("submit") {
		if live.TTY() {
			chars += "\r" // what the key sends
		} else {
			chars += "\n"
		}
	}
	var a execAnswer
	if eof := args.Flag("eof"); chars != "" || eof {
		switch err := live.Write([]byte(chars), eof); {
		case errors.Is(err, terminal.ErrEnded):
			a.Warnings = []string{"not sent: the command takes no more input"}
		case err != nil:
			return "", tellf("not sent: %v", err)
		}
	}
	return r.answerPage(ctx, live, args, a)
}
