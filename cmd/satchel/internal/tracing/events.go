package tracing

import (
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/internal/tracing/line"
)

// event prints a line about a call or a turn, from a column on.
func (p *printer) event(column int, l line.Line) {
	switch l := l.(type) {
	case *line.Break:
		p.line(column, cli.Red, "prefix break %s: %s sent again: %s", place(l.Message), cli.Count(l.LostTokens, "token"), l.Cause)
	case *line.Offered:
		p.line(column, "", "offered: %s%s%s", names(l.Skills), named(l.Named), cut(l.Cut))
	case *line.Suggested:
		p.line(column, "", "suggested: %s", names(l.Skills))
	case *line.Loaded:
		p.line(column, cli.Green, "loaded: %s by the %s, %s", l.Skill, l.By, cli.Count(l.Tokens, "token"))
	case *line.Decision:
		p.line(column, verdictColour(l.Decision), "%s: %s by %s%s", l.Decision, l.Name, l.Rule, reason(l.Reason))
	case *line.Approval:
		verdict := "refused"
		if l.Approved {
			verdict = "approved"
		}
		p.line(column, "", "%s: %s%s", verdict, l.Name, reason(l.Reason))
	case *line.Run:
		p.line(column, "", "%s", run(l))
	case *line.NotFound:
		near := ""
		if len(l.Near) > 0 {
			near = "; similar: " + names(l.Near)
		}
		p.line(column, cli.Yellow, "not found: %s%s", l.Name, near)
	case *line.Used:
		p.line(column, "", "used: %s (%s)", l.Skill, l.How)
	case *line.Unloaded:
		p.line(column, "", "unloaded: %s (%s)", l.Skill, l.Why)
	case *line.Cleared:
		p.line(column, "", "cleared: %s (%s)", textName(l.Skill, l.Doc), l.Why)
	}
}

func place(message int) string {
	if message < 0 {
		return "at the tools"
	}
	return fmt.Sprintf("at message %d", message)
}

func textName(skill, doc string) string {
	if doc == "" {
		return skill
	}
	return skill + "/" + doc
}

// names lists the first names.
func names(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	if more := len(list) - shownNames; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:shownNames], ", "), more)
	}
	return strings.Join(list, ", ")
}

func named(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "; by name only: " + names(list)
}

func cut(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; left out: %d", n)
}

func reason(text string) string {
	if text == "" {
		return ""
	}
	return ": " + cli.Shorten(text, shownText)
}

func verdictColour(decision string) string {
	switch decision {
	case "denied":
		return cli.Red
	case "asked":
		return cli.Yellow
	}
	return ""
}

func run(l *line.Run) string {
	end := fmt.Sprintf("exit %d", l.ExitCode)
	if l.TimedOut {
		end = "timed out"
	}
	files := ""
	if n := len(l.Files); n > 0 {
		files = ", " + cli.Count(n, "file")
	}
	command := ""
	if l.Command != "" {
		command = ": " + cli.Shorten(l.Command, shownText)
	}
	return fmt.Sprintf("ran: %s, %s, %s%s%s", l.Skill, end, duration(l.MS), files, command)
}
