package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/satchel-go/satchel/benchmark/cachemodel"
	"github.com/satchel-go/satchel/benchmark/capture"
	"github.com/satchel-go/satchel/benchmark/measure"
	"github.com/satchel-go/satchel/benchmark/prompt"
	"github.com/satchel-go/satchel/benchmark/requestlog"
)

type cacheReportCmd struct {
	JSON bool   `help:"One JSON object for each conversation, one a line."`
	Key  string `help:"Field that names the conversation, of the line or of its request; by default session, session_id, conversation_id, prompt_cache_key or user, whichever is there." placeholder:"FIELD"`
	File string `arg:"" help:"Log of requests, one JSON object a line; - is standard input."`
}

// Help is the long help of the command.
func (cacheReportCmd) Help() string {
	return `Says what a provider's prompt cache would have served of a log of requests, and
where and why a request does not begin with the one before it.

Each line is a chat completion request in the OpenAI format, or an object that
holds one as "body" or "request". Where a line has "time" or "timestamp" (RFC 3339
or seconds), entries expire as they do at the provider; where it has the
response's "usage", what the provider reported is shown beside.

Tokens are those of o200k_base. Costs are in input-token equivalents: plain input
tokens that cost the same. "of bound" is the cost divided by the least that any
prefix cache could charge. The objects of --json have the fields conversation,
lines, requests, prompt_tokens, peak_tokens, costs, breaks and reported.`
}

// cacheReport is what is said of one conversation; the names in JSON are stable.
type cacheReport struct {
	Conversation string         `json:"conversation"`
	Lines        []int          `json:"lines"`
	Requests     int            `json:"requests"`
	Prompt       int            `json:"prompt_tokens"`
	Peak         int            `json:"peak_tokens"`
	Costs        []measure.Cost `json:"costs"`
	Breaks       []reportBreak  `json:"breaks"`
	Reported     *reportedUsage `json:"reported,omitempty"`
}

// reportBreak is a request whose prefix broke.
type reportBreak struct {
	Line int `json:"line"`
	Lost int `json:"lost_tokens"`
	measure.Difference
}

type reportedUsage struct {
	Prompt int `json:"prompt_tokens"`
	Cached int `json:"cached_tokens"`
}

// Run reports every conversation of the log, in the order of their first request.
func (cmd *cacheReportCmd) Run(c console) error {
	entries, err := cmd.read(c.in)
	if err != nil {
		return fmt.Errorf("read %s: %w", cmd.File, err)
	}
	renderer, err := prompt.NewRenderer()
	if err != nil {
		return err
	}
	prices := cachemodel.Prices()
	for _, conversation := range byKey(entries) {
		report, err := reportOf(conversation, renderer, prices)
		if err != nil {
			return err
		}
		if cmd.JSON {
			e := json.NewEncoder(c.out)
			e.SetEscapeHTML(false)
			err = e.Encode(report)
		} else {
			err = report.write(c.out, prices)
		}
		if err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	return nil
}

func (cmd *cacheReportCmd) read(in io.Reader) ([]requestlog.Entry, error) {
	if cmd.File == "-" {
		return requestlog.Read(in, cmd.Key)
	}
	file, err := os.Open(cmd.File)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return requestlog.Read(file, cmd.Key)
}

func byKey(entries []requestlog.Entry) [][]requestlog.Entry {
	var all [][]requestlog.Entry
	at := map[string]int{}
	for _, e := range entries {
		i, ok := at[e.Key]
		if !ok {
			i = len(all)
			at[e.Key], all = i, append(all, nil)
		}
		all[i] = append(all[i], e)
	}
	return all
}

func reportOf(entries []requestlog.Entry, renderer *prompt.Renderer, prices []cachemodel.Price) (*cacheReport, error) {
	r := &cacheReport{Conversation: entries[0].Key, Requests: len(entries), Breaks: []reportBreak{}}
	var requests []capture.Request
	var times []time.Duration
	var reported reportedUsage
	for i, e := range entries {
		r.Lines = append(r.Lines, e.Line)
		requests = append(requests, e.Request)
		at := time.Duration(0)
		if i > 0 {
			at = times[i-1]
			if !e.At.IsZero() && !entries[0].At.IsZero() {
				at = max(at, e.At.Sub(entries[0].At))
			}
		}
		times = append(times, at)
		reported.Prompt, reported.Cached = reported.Prompt+e.Prompt, reported.Cached+e.Cached
	}
	if reported.Prompt > 0 {
		r.Reported = &reported
	}
	m, err := measure.Requests(requests, times, renderer, prices)
	if err != nil {
		return nil, fmt.Errorf("measure conversation %q: %w", r.Conversation, err)
	}
	r.Prompt, r.Peak, r.Costs = m.Prompt, m.Peak, m.Costs
	for _, b := range m.Breaks {
		r.Breaks = append(r.Breaks, reportBreak{
			Line: entries[b.Request].Line, Lost: b.Lost, Difference: measure.Explain(requests[b.Request-1], requests[b.Request]),
		})
	}
	return r, nil
}

// write is for people.
func (r *cacheReport) write(w io.Writer, prices []cachemodel.Price) error {
	name := "requests"
	if r.Conversation != "" {
		name = fmt.Sprintf("conversation %s: requests", printable(r.Conversation))
	}
	out := &printer{w: w}
	out.printf("%s %d, prompt tokens %d, largest %d, prefix breaks %d\n", name, r.Requests, r.Prompt, r.Peak, len(r.Breaks))
	if r.Reported != nil {
		out.printf("  the provider reported %d prompt tokens, %s of them cached\n", r.Reported.Prompt, percent(r.Reported.Cached, r.Reported.Prompt))
	}
	out.printf("  %-17s %9s %9s %9s %9s\n", "price", "cached", "written", "cost", "of bound")
	for _, c := range r.Costs {
		i := slices.IndexFunc(prices, func(p cachemodel.Price) bool { return p.Name == c.Price })
		out.printf("  %-17s %9s %9d %9.0f %9.3f  %s\n", c.Price, percent(c.Read, r.Prompt), c.Written, c.ITE, c.Ratio, prices[i].Models)
	}
	for _, b := range r.Breaks {
		out.printf("  line %d breaks the prefix at %s: %d tokens are sent anew\n", b.Line, printable(b.Place), b.Lost)
		out.printf("    was  %q\n    is   %q\n", b.Before, b.After)
		if b.Hint != "" {
			out.printf("    %s\n", b.Hint)
		}
	}
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
