package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/terminal"
	"github.com/satchel-go/satchel/workspace"
)

// How long a call waits for output. A command that ends, or asks, ends the wait.
const (
	defaultYield = time.Second
	maxYield     = time.Minute
)

// The status of a session.
const (
	statusRunning = "running" // or there is output that was not told yet
	statusExited  = "exited"
	statusKilled  = "killed" // by this call
)

// execAnswer is the JSON object that answers the calls of a session. A page of
// the output follows on the one before; only the last one comes with the end.
type execAnswer struct {
	Status      string                  `json:"status"`
	Session     string                  `json:"session_id"`
	Output      string                  `json:"output"`
	Offset      int64                   `json:"offset"`
	Next        int64                   `json:"next_offset"`
	End         int64                   `json:"end_offset,omitempty"` // where more than one page is there
	Interaction *interaction            `json:"interaction,omitempty"`
	Staged      []workspace.StagedInput `json:"staged_inputs,omitempty"`
	Warnings    []string                `json:"warnings,omitempty"`
	Result      json.RawMessage         `json:"result,omitempty"`
}

// interaction says what the command seems to wait for. The question itself is
// in the output, once.
type interaction struct {
	NeedsInput bool          `json:"needs_input"`
	Kind       terminal.Kind `json:"kind"`
	Hint       string        `json:"hint"`
}

// pageFields are the arguments of every call that answers with a page: for how
// long to wait for output, and how many lines to answer at most. They are told
// once, with skill_exec.
func pageFields() []Field {
	return []Field{
		{Name: "yield_ms", Kind: Count, Aliases: []string{"yield_time_ms", "yieldMs"}},
		{Name: "poll_lines", Kind: Count},
	}
}

func sessionField() Field {
	return Field{Name: "session_id", Kind: Text, Required: true, Aliases: []string{"sessionId", "session"}}
}

// session finds the session that a call is about.
func (s *Scope) session(args Args) (*terminal.Session, error) {
	if s.Sessions == nil {
		return nil, tellf("there are no sessions here")
	}
	live, err := s.Sessions.Session(s.Key, args.Text("session_id"))
	if err != nil {
		return nil, tellf("%v; start one with skill_exec", err)
	}
	return live, nil
}

// answerPage waits for output and answers with it.
func (r *Runner) answerPage(ctx context.Context, live *terminal.Session, args Args, a execAnswer) (string, error) {
	p, err := r.page(ctx, live, args)
	if err != nil {
		return "", err
	}
	return tellPage(live, p, a)
}

// page waits for output as the arguments say.
func (r *Runner) page(ctx context.Context, live *terminal.Session, args Args) (terminal.Page, error) {
	req := terminal.Request{Offset: -1, Wait: defaultYield, Bytes: r.pageBytes()}
	if n, ok := args.Count("yield_ms"); ok {
		req.Wait = min(time.Duration(min(n, int(maxYield/time.Millisecond)))*time.Millisecond, maxYield)
	}
	if n, ok := args.Count("poll_lines"); ok {
		req.Lines = n
	}
	if n, ok := args.Count("offset"); ok {
		req.Offset = int64(n)
	}
	return live.Next(ctx, req)
}

// pageBytes is the length of a page: as much as skill_run shows of a stream.
func (r *Runner) pageBytes() int { return int(r.Limits.OrDefaults().Output) }

// tellPage writes the answer of a page.
func tellPage(live *terminal.Session, p terminal.Page, a execAnswer) (string, error) {
	switch {
	case a.Status != "":
	case p.Ended:
		a.Status = statusExited
	default:
		a.Status = statusRunning
	}
	a.Session, a.Output, a.Offset, a.Next, a.Result = live.ID(), p.Text, p.Offset, p.Next, p.Final
	if p.End > p.Next {
		a.End = p.End
	}
	if p.Asks != nil {
		a.Interaction = &interaction{true, p.Asks.Kind, p.Asks.Hint}
	}
	if p.Lost > 0 {
		a.Warnings = append(a.Warnings, fmt.Sprintf("%d bytes before offset %d are not kept any more", p.Lost, p.Offset))
	}
	if p.Ended && live.Idled() {
		a.Warnings = append(a.Warnings, "it was killed: it had not been asked for in a long time")
	}
	return encode(a)
}
