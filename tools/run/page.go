package run

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/tools"
)

// The status of a session.
const (
	statusRunning = "running" // or there is output that no answer has shown yet
	statusExited  = "exited"
	statusKilled  = "killed" // by this call
)

// execAnswer is the JSON object that answers the calls of a session. Pages of output follow each
// other; only the last one comes with the result.
type execAnswer struct {
	Status      string           `json:"status"`
	Session     string           `json:"session_id"`
	Output      string           `json:"output"`
	Offset      int64            `json:"offset"`
	Next        int64            `json:"next_offset"`
	End         int64            `json:"end_offset,omitempty"` // if there is more than one page
	Interaction *interaction     `json:"interaction,omitempty"`
	Staged      []stagedFile     `json:"staged_inputs,omitempty"`
	Warnings    []printable.Text `json:"warnings,omitempty"`
	Result      json.RawMessage  `json:"result,omitempty"`
}

// interaction says what the command seems to wait for. The output contains the question itself.
type interaction struct {
	NeedsInput bool          `json:"needs_input"`
	Kind       terminal.Kind `json:"kind"`
	Hint       string        `json:"hint"`
}

// pageFields returns the fields of every call that answers with a page: how long to wait for
// output, and how many lines to show at most. No schema shows them.
func pageFields() []tools.Field {
	return []tools.Field{
		{Name: "yield_ms", Kind: tools.Count, Hidden: true, Aliases: []string{"yield_time_ms", "yieldMs"}},
		{Name: "poll_lines", Kind: tools.Count, Hidden: true},
	}
}

// sessionID is the name of the argument with the id of a session.
const sessionID = "session_id"

func sessionField() tools.Field {
	return tools.Field{Name: sessionID, Kind: tools.Text, Required: true, Aliases: []string{"sessionId", "session"}}
}

// sessionOf returns the session that a call names.
func sessionOf(ctx context.Context, s *skilltools.Scope, args tools.Args) (*terminal.Session, error) {
	if s.Sessions() == nil {
		return nil, tools.ModelErrorf("there are no sessions here")
	}
	after, err := highestNumber(ctx, s)
	if err != nil {
		return nil, err
	}
	live, err := s.Sessions().Session(s.Key(), args.Text(sessionID), after)
	if errors.Is(err, terminal.ErrGone) {
		return nil, tools.ModelErrorf("%v", err)
	}
	if err != nil {
		return nil, tools.ModelErrorf("%v; start one with skill_exec", err)
	}
	return live, nil
}

// revoke ends a session whose skill has lost a grant that its command uses, and returns a
// warning.
func revoke(ctx context.Context, live *terminal.Session) []printable.Text {
	lost, err := live.Revoke(ctx)
	if lost == "" || err != nil { // or the call is over
		return nil
	}
	return []printable.Text{printable.Text("the command was ended: its skill no longer has " + lost)}
}

// answerPage waits for output and returns the answer with it.
func answerPage(ctx context.Context, live *terminal.Session, args tools.Args, bytes int, a execAnswer) (string, error) {
	p, err := page(ctx, live, args, bytes)
	if err != nil {
		return "", err
	}
	return writePage(live, p, a)
}

// page waits for output. The arguments bound the wait and the page.
func page(ctx context.Context, live *terminal.Session, args tools.Args, bytes int) (terminal.Page, error) {
	req := terminal.Request{Offset: -1, Wait: defaultYield, Bytes: bytes}
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

// pageBytes returns the bound of a page, which is as much as skill_run shows of a stream. In JSON
// a page takes at most twice as much, so half of an answer is left for the result.
func pageBytes(limits executor.Limits, s *skilltools.Scope) int {
	return min(int(limits.OrDefaults().Output), s.Limits.OrDefaults().Answer/4-answerReserve/2)
}

// writePage returns an answer with a page.
func writePage(live *terminal.Session, p terminal.Page, a execAnswer) (string, error) {
	switch {
	case a.Status != "":
	case p.IsLast:
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
		a.Warnings = append(a.Warnings, warning("%d bytes before offset %d are not kept any more", p.Lost, p.Offset))
	}
	if p.IsLast && live.WasIdleKilled() {
		a.Warnings = append(a.Warnings, "it was killed: it had not been asked for in a long time")
	}
	return plainjson.Encode(a)
}
