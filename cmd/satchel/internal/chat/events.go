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
	// lifecycle is set where the stations of skills are events.
	lifecycle bool

	mu       sync.Mutex
	out, err io.Writer
	turn     int
	// live is set where a person watches standard output: text is shown as it
	// arrives. Otherwise standard output has answers only, and whether a message is
	// an answer is known when it is complete.
	live    bool
	watched bool // a person watches it, streamed or not
	open    bool // the line on standard output has text and no end yet
	broken  error
	// spent is the sum of what was reported of so many model calls.
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

// Delta is a piece of a streamed text of the assistant.
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

// Text is what the assistant says beside tool calls.
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

// ToolCall is a call that the model made.
func (r *reporter) ToolCall(c core.ToolCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line(event{Event: "tool_call", ID: &c.ID, Name: &c.Name, Arguments: &c.Arguments})
	r.endLine()
	r.note("call    %s %s", c.Name, c.Arguments)
}

// ToolResult is what the framework answers to a call.
func (r *reporter) ToolResult(c core.ToolCall, result string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line(event{Event: "tool_result", ID: &c.ID, Name: &c.Name, Result: &result})
	r.note("result  %s: %s", c.Name, result)
}

// Usage prints what one model call cost, if the provider reports it.
func (r *reporter) Usage(u core.Usage) {
	if u == (core.Usage{}) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spent.Prompt, r.spent.Cached, r.spent.Completion = r.spent.Prompt+u.Prompt, r.spent.Cached+u.Cached, r.spent.Completion+u.Completion
	r.requests++
	r.line(event{Event: "usage", PromptTokens: &u.Prompt, CachedTokens: &u.Cached, CompletionTokens: &u.Completion})
	r.endLine()
	r.note("usage   %d prompt tokens (%d cached), %d completion tokens", u.Prompt, u.Cached, u.Completion)
}

// Spent is the sum of what the provider has reported, and of how many model calls.
func (r *reporter) Spent() (core.Usage, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spent, r.requests
}

// Answer ends a turn.
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

// plain returns the text of a model as it is printed. A terminal gets no control sequences; a
// program that reads the output gets the text unchanged.
func (r *reporter) plain(text string) string {
	if !r.watched {
		return text
	}
	return cli.PlainText(text)
}

// Error ends a turn without an answer.
func (r *reporter) Error(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := err.Error()
	r.line(event{Event: "error", Error: &text})
	r.endLine()
	r.print(r.err, fmt.Sprintf("satchel: turn %d: %s\n", r.turn, cli.OneLine(text)))
}

// Diagnostic is a finding about the skills.
func (r *reporter) Diagnostic(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line(event{Event: "diagnostic", Diagnostic: &text})
	r.note("skills  %s", text)
}

// Caution tells people who asked for details what to know about runs.
func (r *reporter) Caution(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note("runs    %s", text)
}

// Saved tells where a file of --out is.
func (r *reporter) Saved(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.print(r.err, "saved   "+cli.OneLine(text)+"\n")
}

// Warning is a finding that people see without asking for details.
func (r *reporter) Warning(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line(event{Event: "diagnostic", Diagnostic: &text})
	r.print(r.err, "satchel: "+cli.OneLine(text)+"\n")
}

// Err is the first error of a write to standard output.
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

// note writes for people who asked for details. Lines after the first are
// indented, so that the beginning of each note can be seen. What models, tools
// and skills say must not reach a terminal as control sequences.
func (r *reporter) note(format string, args ...any) {
	if !r.verbose {
		return
	}
	r.print(r.err, indent(fmt.Sprintf(format, args...)))
}

// indent is a note as it is printed.
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
