package tracing

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/internal/tracing/line"
	"github.com/satchel-go/satchel/internal/tracing/tracelog"
)

// Columns at which lines begin.
const (
	callColumn   = 2
	detailColumn = 4
)

// writeText prints the turns and calls of a trace, then the totals.
func writeText(c cli.Console, out io.Writer, t *tracelog.Trace) error {
	p := newPrinter(c, out)
	for _, s := range t.Sessions {
		for _, a := range s.Agents {
			for _, turn := range a.Turns {
				p.turn(turn)
			}
		}
	}
	p.totals(&tracelog.Summarize(t).Totals)
	if p.err != nil {
		return fmt.Errorf("write trace: %w", p.err)
	}
	return nil
}

func (p *printer) turn(t *tracelog.Turn) {
	prompt := ""
	if t.Prompt != "" {
		prompt = ": " + cli.Shorten(t.Prompt, shownText)
	}
	p.line(0, cli.Bold, "%s turn %d%s", t.Agent.Label, t.Number, prompt)
	for _, call := range t.Calls {
		p.call(call)
	}
	for _, l := range t.Lines() {
		p.event(callColumn, l)
	}
}

func (p *printer) call(c *tracelog.Call) {
	p.line(callColumn, cli.Bold, "%s%s", c.Name(), model(c))
	p.line(detailColumn, "", "sent: %s", parts(&c.Parts))
	if n := c.Len(); n > 0 {
		p.line(detailColumn, "", "%s, %d new%s", cli.Count(n, "message"), n-c.Keep, uncertain(c))
	}
	isAnswered := false
	for _, l := range c.Lines() {
		switch l := l.(type) {
		case *line.Answer:
			p.answer(l)
		case *line.Error:
			p.line(detailColumn, cli.Red, "error: %s", cli.Shorten(l.Error, shownText))
		default:
			p.event(detailColumn, l)
			continue
		}
		isAnswered = true
	}
	if !isAnswered {
		p.line(detailColumn, cli.Yellow, "the trace has no answer")
	}
}

func model(c *tracelog.Call) string {
	if c.Model == "" {
		return ""
	}
	return " " + c.Model
}

func uncertain(c *tracelog.Call) string {
	if !c.Uncertain {
		return ""
	}
	return "; lines before this call are lost"
}

// parts prints the parts of a request that are not empty.
func parts(p *line.Parts) string {
	var list []string
	for _, one := range []struct {
		name   string
		tokens int
	}{{"system", p.System}, {"overview", p.Overview}, {"history", p.History}, {"skills", p.Skills}, {"docs", p.Docs}, {"tools", p.Tools}} {
		if one.tokens != 0 {
			list = append(list, fmt.Sprintf("%s %d", one.name, one.tokens))
		}
	}
	if len(list) == 0 {
		return cli.Count(p.Sum(), "token")
	}
	return cli.Count(p.Sum(), "token") + ": " + strings.Join(list, ", ")
}

func (p *printer) answer(a *line.Answer) {
	p.line(detailColumn, "", "provider: %d prompt, %d cached, %d completion, %s", a.PromptTokens, a.CachedTokens, a.CompletionTokens, duration(a.MS))
	p.said("", a.Text, a.ToolCalls)
	for i, other := range a.Alternatives {
		p.said(fmt.Sprintf("alternative %d ", i+1), other.Text, other.ToolCalls)
	}
}

// said prints what the model said, behind the name of an alternative.
func (p *printer) said(of, text string, calls []line.ToolCall) {
	if text != "" {
		p.line(detailColumn, "", "%sanswer: %s", of, cli.Shorten(text, shownText))
	}
	for _, t := range calls {
		p.line(detailColumn, "", "%scalls: %s %s", of, t.Name, cli.Shorten(t.Arguments, shownText))
	}
}

func duration(ms int64) string {
	return (time.Duration(ms) * time.Millisecond).String()
}

func (p *printer) totals(t *tracelog.Totals) {
	p.line(0, cli.Bold, "%s, %s, %s", cli.Count(t.Calls, "call"), cli.Count(t.Turns, "turn"), cli.Count(t.Sessions, "session"))
	p.line(callColumn, "", "tokens of the provider: %d prompt, %d of them cached (%s), %d completion", t.PromptTokens, t.CachedTokens, percent(t.CachedTokens, t.PromptTokens), t.CompletionTokens)
	p.line(callColumn, "", "tokens of the parts: %d", t.EstimatedTokens)
	p.line(callColumn, "", "prefix breaks: %d", t.Breaks)
	if t.Cut > 0 || t.Dropped > 0 {
		p.line(callColumn, cli.Yellow, "lines: %d cannot be read, %d were not written", t.Cut, t.Dropped)
	}
}

func percent(part, whole int) string {
	if whole <= 0 {
		return "0.0 %"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}
