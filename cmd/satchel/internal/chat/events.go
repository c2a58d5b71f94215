package chat

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
)

// reporter shows a conversation: answers on standard output and, as the flags
// say, tool calls on standard error or everything as JSON lines on standard
// output. Both frameworks call it from more than one goroutine.
type reporter struct {
	json, verbose, stream bool
	// lifecycle reports that phases of skills are events.
	lifecycle bool
	// log gets the events that it holds. It may be nil.
	log *requestLog

	mu       sync.Mutex
	out, err io.Writer
	turn     int
	// live reports that a person watches standard output, so text is shown as it arrives. Otherwise
	// standard output has answers only, which are known when they are complete.
	live    bool
	watched bool // a person watches it, streamed or not
	open    bool // the line on standard output has text and no end yet
	broken  error
	// spent is the sum of the tokens that requests model calls reported.
	spent    core.Usage
	requests int
}

// event is a line of --json. Every event has the fields event and turn; the
// other fields that it has are always there, empty or not. Their names are
// stable.
type event struct {
	Event string `json:"event"`
	Turn  int    `json:"turn"`

	Prompt *string `json:"prompt,omitempty"`
	Text   *string `json:"text,omitempty"`
	Error  *string `json:"error,omitempty"`

	ID        *string `json:"id,omitempty"`
	Name      *string `json:"name,omitempty"`
	Arguments *string `json:"arguments,omitempty"`
	Result    *string `json:"result,omitempty"`

	PromptTokens     *int `json:"prompt_tokens,omitempty"`
	CachedTokens     *int `json:"cached_tokens,omitempty"`
	CompletionTokens *int `json:"completion_tokens,omitempty"`

	Decision *string `json:"decision,omitempty"`
	Skill    *string `json:"skill,omitempty"`
	Rule     *string `json:"rule,omitempty"`
	Reason   *string `json:"reason,omitempty"`

	Diagnostic *string `json:"diagnostic,omitempty"`

	Phase  *string `json:"phase,omitempty"`
	Detail *string `json:"detail,omitempty"`

	Fork *string `json:"fork,omitempty"`
}

// QuietReporter returns a reporter that writes warnings and errors to errs, and nothing else.
func QuietReporter(errs io.Writer) *reporter { return &reporter{out: io.Discard, err: errs} }

// Turn begins a user turn.
func (r *reporter) Turn(prompt string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn++
	r.line(event{Event: "turn", Prompt: &prompt})
}

// Delta shows a piece of streamed text.
func (r *reporter) Delta(text string) {
	if text == "" || !r.stream || !r.json && !r.live {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.json {
		r.line(event{Event: "delta", Text: &text})
		return
	}
	r.print(r.out, r.plain(text))
	r.open = !strings.HasSuffix(text, "\n")
}

// Text shows what the model says beside tool calls.
func (r *reporter) Text(text string) {
	if text == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line(event{Event: "text", Text: &text})
	r.endLine()
	if !r.live {
		r.note("text    %s", text)
	}
}

// ToolCall shows a call of the model.
func (r *reporter) ToolCall(c core.ToolCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line(event{Event: "tool_call", ID: &c.ID, Name: &c.Name, Arguments: &c.Arguments})
	r.endLine()
	r.note("call    %s %s", c.Name, c.Arguments)
}

// ToolResult shows what the framework answers to a call.
func (r *reporter) ToolResult(c core.ToolCall, result string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line(event{Event: "tool_result", ID: &c.ID, Name: &c.Name, Result: &result})
	r.note("result  %s: %s", c.Name, result)
}

// Usage shows and adds the tokens of one model call, if the provider reports them.
func (r *reporter) Usage(u core.Usage) { r.usage(u, nil) }

// usage is Usage for a model call in a fork, or in none.
func (r *reporter) usage(u core.Usage, fork *string) {
	if u == (core.Usage{}) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spent.Prompt, r.spent.Cached, r.spent.Completion = r.spent.Prompt+u.Prompt, r.spent.Cached+u.Cached, r.spent.Completion+u.Completion
	r.requests++
	r.line(event{Event: "usage", PromptTokens: &u.Prompt, CachedTokens: &u.Cached, CompletionTokens: &u.Completion, Fork: fork})
	r.endLine()
	r.note("usage   %d prompt tokens (%d cached), %d completion tokens", u.Prompt, u.Cached, u.Completion)
}

// Spent returns the sum of the reported tokens, and how many model calls have reported.
func (r *reporter) Spent() (core.Usage, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spent, r.requests
}

// Answer shows the answer of a turn.
func (r *reporter) Answer(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.json {
		r.line(event{Event: "answer", Text: &text})
		return
	}
	if r.live {
		r.endLine() // the text is there already
		return
	}
	r.print(r.out, r.plain(strings.TrimSuffix(text, "\n"))+"\n")
}

// plain returns the text of a model without control sequences if a person watches the output. A program
// that reads the output gets the text unchanged.
func (r *reporter) plain(text string) string {
	if !r.watched {
		return text
	}
	return cli.PlainText(text)
}

// Error shows why a turn has no answer.
func (r *reporter) Error(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := err.Error()
	r.line(event{Event: "error", Error: &text})
	r.endLine()
	r.print(r.err, fmt.Sprintf("satchel: turn %d: %s\n", r.turn, cli.OneLine(text)))
}

// Diagnostic shows a finding about skills.
func (r *reporter) Diagnostic(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line(event{Event: "diagnostic", Diagnostic: &text})
	r.note("skills  %s", text)
}

// Caution shows, with --verbose, how commands are confined.
func (r *reporter) Caution(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note("runs    %s", text)
}

// Saved shows the path of a file of --out.
func (r *reporter) Saved(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.print(r.err, "saved   "+cli.OneLine(text)+"\n")
}

// Warning shows a finding, also without --verbose.
func (r *reporter) Warning(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line(event{Event: "diagnostic", Diagnostic: &text})
	r.print(r.err, "satchel: "+cli.OneLine(text)+"\n")
}

// Err returns the first error of a write to standard output.
func (r *reporter) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken
}

// line writes an event with --json. The caller of this and the following methods holds the
// lock.
func (r *reporter) line(e event) {
	if !r.json {
		return
	}
	e.Turn = r.turn
	var b strings.Builder
	if err := cli.WriteJSON(&b, e); err != nil {
		r.broken = err
		return
	}
	r.print(r.out, b.String())
}

// endLine ends a line of streamed text before other output begins.
func (r *reporter) endLine() {
	if r.open {
		r.print(r.out, "\n")
		r.open = false
	}
}

// note writes to standard error with --verbose. It indents the lines after the first and replaces
// control characters, because models, tools and skills write the text.
func (r *reporter) note(format string, args ...any) {
	if !r.verbose {
		return
	}
	r.print(r.err, indent(fmt.Sprintf(format, args...)))
}

// indent returns a note with its lines after the first indented.
func indent(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = cli.Printable(strings.ReplaceAll(line, "\t", "    "))
	}
	return strings.Join(lines, "\n        ") + "\n"
}

func (r *reporter) print(w io.Writer, text string) {
	if _, err := io.WriteString(w, text); err != nil && w == r.out && r.broken == nil {
		r.broken = err
	}
}
