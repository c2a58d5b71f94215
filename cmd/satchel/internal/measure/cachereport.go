package measure

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// CacheReportCommand prints what a captured conversation cost with a prompt cache.
type CacheReportCommand struct {
	JSON bool   `help:"One JSON object for each conversation, one a line."`
	Key  string `help:"Field that names the conversation, of the line or of its request; by default session, session_id, conversation_id, prompt_cache_key or user, whichever is there." placeholder:"FIELD"`
	File string `arg:"" help:"Log of requests, one JSON object a line; - is standard input."`
}

// Help is the long help of the command.
func (CacheReportCommand) Help() string {
	return `Says what a provider's prompt cache would have served of a log of requests, and
where and why a request does not begin with the one before it.

Each line is a request in OpenAI's chat completions or responses format or in
Anthropic's messages format, or an object that holds one as "body" or "request".
A request that names a previous response cannot be read: send the whole input. Where a line has "time" or "timestamp" (RFC 3339
or seconds), entries expire as they do at the provider; where it has the
response's "usage", what the provider reported is shown beside.

Tokens are those of o200k_base. Costs are in input-token equivalents: plain input
tokens that cost the same. "of bound" is the cost divided by the least that any
prefix cache could charge. Tokens that a break sends again are text that the
last request had too, but that now follows the break and is charged as new.
A picture, and each other part that is no text, counts as 765 tokens.

Only tools and messages are compared. A change of other parameters, such as
response_format or parallel_tool_calls, can break a prefix too.

A line may also be an event of Satchel, the JSON of a core.Event with the session of
the requests. The report says for each text of a skill that was cleared what decided:
rent (carrying it has cost as much as allowed), expectation (clearing is expected to
cost less) or break (the prefix broke before it anyway). Rent and price are
input-token equivalents, and tokens of texts are estimates. "satchel chat
--request-log" writes requests and events.

The objects of --json have the fields conversation, lines, requests,
prompt_tokens, peak_tokens, costs, breaks, clearings and reported. A log may hold
256 MiB of different messages.`
}

// CacheReport is the report on one conversation; the names in JSON are stable.
type CacheReport struct {
	Conversation string            `json:"conversation"`
	Lines        []int             `json:"lines"`
	Requests     int               `json:"requests"`
	Prompt       int               `json:"prompt_tokens"`
	Peak         int               `json:"peak_tokens"`
	Costs        []cachemodel.Cost `json:"costs"`
	Breaks       []reportBreak     `json:"breaks"`
	Clearings    []Clearing        `json:"clearings"`
	Reported     *reportedUsage    `json:"reported,omitempty"`
}

// reportBreak is a request that does not begin with the one before it, and how many tokens it
// sends again.
type reportBreak struct {
	Line int `json:"line"`
	Lost int `json:"lost_tokens"`
	cachemodel.Difference
}

// reportedUsage is the sum of the tokens that the provider reported. It leaves out implausible lines.
type reportedUsage struct {
	Prompt      int `json:"prompt_tokens"`
	Cached      int `json:"cached_tokens"`
	Implausible int `json:"implausible_lines,omitempty"`
}

func (u *reportedUsage) add(e *Entry) {
	switch {
	case e.Prompt == 0 && e.Cached == 0: // the line says nothing
	case e.Prompt <= 0 || e.Prompt > maxReported || e.Cached < 0 || e.Cached > e.Prompt:
		u.Implausible++
	default:
		u.Prompt, u.Cached = u.Prompt+e.Prompt, u.Cached+e.Cached
	}
}

// Run reports every conversation of the log, in the order of their first request.
func (cmd *CacheReportCommand) Run(c cli.Console) error {
	renderer, err := prompt.NewO200k()
	if err != nil {
		return err
	}
	in := c.In
	if cmd.File != "-" {
		file, err := os.Open(cmd.File)
		if err != nil {
			return fmt.Errorf("read %s: %w", cmd.File, err)
		}
		defer file.Close()
		in = file
	}
	prices := cachemodel.Prices()
	var all []*conversation
	known := map[string]*conversation{}
	var waiting []*clearedEvent // those before the request without their text
	for e, err := range ReadLog(in, cmd.Key) {
		if err != nil {
			return fmt.Errorf("read %s: %w", cmd.File, err)
		}
		if e.cleared != nil {
			waiting = append(waiting, e.cleared)
			continue
		}
		one := known[e.Key]
		if one == nil {
			one = newLogged(&e, renderer, prices)
			known[e.Key], all = one, append(all, one)
		}
		var events []*clearedEvent
		events, waiting = split(waiting, e.Key)
		if err := one.add(&e, events); err != nil {
			return fmt.Errorf("measure line %d: %w", e.Line, err)
		}
	}
	for _, one := range all {
		var events []*clearedEvent
		events, waiting = split(waiting, one.report.Conversation)
		for _, e := range events {
			one.report.Clearings = append(one.report.Clearings, e.clearing())
		}
	}
	if len(waiting) > 0 {
		fmt.Fprintf(c.Err, "satchel: %s of sessions that no request names, such as %q\n", plural(len(waiting), "event"), waiting[0].Key.Session)
	}
	for _, one := range all {
		report := one.done()
		if cmd.JSON {
			e := json.NewEncoder(c.Out)
			e.SetEscapeHTML(false)
			err = e.Encode(report)
		} else {
			err = report.write(c.Out, prices)
		}
		if err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	return nil
}

// conversation measures the requests of one conversation of the log.
type conversation struct {
	report   CacheReport
	reported reportedUsage
	gauge    *cachemodel.Gauge
	last     prompt.Request
	began    time.Time
	at       time.Duration
}

func newLogged(first *Entry, renderer *prompt.Renderer, prices []cachemodel.Price) *conversation {
	return &conversation{
		report: CacheReport{Conversation: first.Key, Breaks: []reportBreak{}, Clearings: []Clearing{}},
		gauge:  cachemodel.NewGauge(renderer, prices), began: first.At,
	}
}

// add measures a request. events are about texts that were cleared before it.
func (c *conversation) add(e *Entry, events []*clearedEvent) error {
	if !e.At.IsZero() && !c.began.IsZero() {
		c.at = max(c.at, e.At.Sub(c.began))
	}
	b, broken, err := c.gauge.Send(e.Request, c.at)
	if err != nil {
		return err
	}
	if broken {
		c.report.Breaks = append(c.report.Breaks, reportBreak{e.Line, b.Lost, cachemodel.Explain(c.last, e.Request)})
	}
	for _, cleared := range clearingsBetween(c.last, e.Request, events) {
		cleared.Line = e.Line
		c.report.Clearings = append(c.report.Clearings, cleared)
	}
	c.report.Lines = append(c.report.Lines, e.Line)
	c.reported.add(e)
	c.last = e.Request
	return nil
}

func (c *conversation) done() *CacheReport {
	m := c.gauge.Done()
	c.report.Requests, c.report.Prompt, c.report.Peak, c.report.Costs = m.Requests, m.Prompt, m.Peak, m.Costs
	if c.reported != (reportedUsage{}) {
		c.report.Reported = &c.reported
	}
	return &c.report
}

// write prints the report for people to read.
func (r *CacheReport) write(w io.Writer, prices []cachemodel.Price) error {
	name := "requests"
	if r.Conversation != "" {
		name = fmt.Sprintf("conversation %s: requests", cli.Printable(r.Conversation))
	}
	out := &printer{w: w}
	out.printf("%s %d, prompt tokens %d, largest %d, prefix breaks %d\n", name, r.Requests, r.Prompt, r.Peak, len(r.Breaks))
	if u := r.Reported; u != nil && u.Prompt > 0 {
		out.printf("  the provider reported %d prompt tokens, %s of them cached\n", u.Prompt, percent(u.Cached, u.Prompt))
	}
	if r.Reported != nil && r.Reported.Implausible > 0 {
		out.printf("  not plausible, and left out: the usage of %d lines\n", r.Reported.Implausible)
	}
	out.printf("  %-17s %9s %9s %9s %9s\n", "price", "cached", "written", "cost", "of bound")
	for _, c := range r.Costs {
		i := slices.IndexFunc(prices, func(p cachemodel.Price) bool { return p.Name == c.Price })
		out.printf("  %-17s %9s %9d %9.0f %9.3f  %s\n", c.Price, percent(c.Read, r.Prompt), c.Written, c.ITE, c.Ratio, prices[i].Models)
	}
	for _, b := range r.Breaks {
		out.printf("  line %d breaks the prefix at %s: %d tokens are sent again\n", b.Line, cli.Printable(b.Place), b.Lost)
		out.printf("    was  %q\n    is   %q\n", b.Before, b.After)
		if b.Hint != "" {
			out.printf("    %s\n", b.Hint)
		}
	}
	writeClearings(out, r.Clearings)
	return out.err
}

// printer remembers the first error of many writes.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

func percent(part, whole int) string {
	if whole == 0 {
		return "0.0 %"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}
