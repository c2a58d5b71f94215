package tracing

import (
	"fmt"
	"io"
	"strconv"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/internal/tracing/tracelog"
)

// UsageCommand shows what a trace says about skills.
type UsageCommand struct {
	Files `embed:""`
	JSON  bool `help:"One JSON object with calls, turns and skills."`
}

// Help is the long help of the command.
func (UsageCommand) Help() string {
	return `Shows for each skill of a trace how often it was offered, suggested, loaded and used,
and what its texts cost. Below the table stand the skills to drop and those to fix:

  drop  no turn loaded or used it
  fix   it was suggested and never loaded: its description does not say when to load it
  fix   it was loaded and never used: it is loaded for nothing

Offered and suggested count turns. Loaded counts loads by the model, the user and the
host. Used counts runs of its commands, reads of its docs and answers that name it.
Tokens are those of its texts in all requests, and share is their part of all tokens.

The object of --json has the fields calls, turns and skills, each with skill, offered,
suggested, loaded {model, user, host}, used, tokens and share (0 to 1). Skills beyond
the first 200 are added up as "other".`
}

// Run reads the trace and prints the table.
func (cmd *UsageCommand) Run(c cli.Console) error {
	t, err := cmd.read(c)
	if err != nil {
		return err
	}
	u := tracelog.Summarize(t).Usage()
	if cmd.JSON {
		return cli.WriteJSON(c.Out, u)
	}
	if err := writeUsage(c, c.Out, &u); err != nil {
		return fmt.Errorf("write usage: %w", err)
	}
	return nil
}

func writeUsage(c cli.Console, out io.Writer, u *tracelog.Usage) error {
	p := newPrinter(c, out)
	p.line(0, "", "%s in %s", cli.Count(u.Calls, "call"), cli.Count(u.Turns, "turn"))
	if p.err != nil || len(u.Skills) == 0 {
		return p.err
	}
	table := cli.Table{Console: c}
	table.Row("SKILL", "OFFERED", "SUGGESTED", "MODEL", "USER", "HOST", "USED", "TOKENS", "SHARE")
	for i := range u.Skills {
		s := &u.Skills[i]
		table.Row(cli.Shorten(cli.Printable(s.Skill), max(minName, p.width-otherColumns)), strconv.Itoa(s.Offered), strconv.Itoa(s.Suggested),
			strconv.Itoa(s.Loaded.Model), strconv.Itoa(s.Loaded.User), strconv.Itoa(s.Loaded.Host),
			strconv.Itoa(s.Used), strconv.Itoa(s.Tokens), fmt.Sprintf("%.1f%%", 100*s.Share))
	}
	if err := table.Write(out); err != nil {
		return err
	}
	var dropped, vague, wasted []string
	for i := range u.Skills {
		switch s := &u.Skills[i]; {
		case s.IsWasted():
			wasted = append(wasted, s.Skill)
		case s.IsUnused() && s.Suggested > 0:
			vague = append(vague, s.Skill)
		case s.IsUnused():
			dropped = append(dropped, s.Skill)
		}
	}
	p.advice("drop, never loaded", dropped)
	p.advice("fix, suggested and never loaded", vague)
	p.advice("fix, loaded and never used", wasted)
	return p.err
}

func (p *printer) advice(what string, skills []string) {
	if len(skills) > 0 {
		p.line(0, cli.Yellow, "%s: %s", what, names(skills))
	}
}
