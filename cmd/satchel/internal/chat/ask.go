package chat

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
)

// person is the user who answers questions on a terminal.
type person struct {
	out    io.Writer
	input  *typist // nil: there is no terminal
	closer io.Closer
}

// person returns the terminal for questions. It is standard input if a person types the prompts
// there. Otherwise it is the terminal of the process, so that piped prompts are never answers.
func (cmd *Command) person(c cli.Console) *person {
	if cmd.Approve != "ask" && !cmd.asksAboutEdits(c.Env) || c.Terminal {
		return &person{out: c.Err, input: cmd.input}
	}
	if c.TTY != nil {
		if terminal, err := c.TTY(); err == nil {
			return &person{out: terminal, input: newTypist(terminal), closer: terminal}
		}
	}
	return &person{out: c.Err} // no person can be asked
}

// close closes the terminal if it was opened for questions.
func (p *person) close() {
	if p.closer != nil {
		p.closer.Close()
	}
}

// typist reads lines of a terminal. A caller can stop waiting for a line.
type typist struct {
	from io.Reader
	in   *bufio.Reader // of from

	mu sync.Mutex
	// next receives the line of the pending read, which cannot be cancelled.
	next chan lineRead
}

type lineRead struct {
	text string
	err  error
}

func newTypist(in io.Reader) *typist { return &typist{from: in, in: bufio.NewReader(in)} }

// forget drops the lines that a person typed before a question. Lines of any other input are kept.
func (t *typist) forget() error {
	f, ok := t.from.(*os.File)
	if !ok || !cli.IsTerminal(f) {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.next == nil {
		_, _ = t.in.Discard(t.in.Buffered())
	} else {
		select {
		case got := <-t.next: // of an earlier read whose caller has left
			if got.err != nil && !errors.Is(got.err, cli.ErrLongLine) {
				t.next <- got // the input is at its end
				break
			}
			t.next = nil
			_, _ = t.in.Discard(t.in.Buffered())
		default:
		}
	}
	return dropTyped(f)
}

// line returns the next line. If ctx ends first, the next call gets that line.
func (t *typist) line(ctx context.Context) (string, error) {
	t.mu.Lock()
	next := t.next
	if next == nil {
		next = make(chan lineRead, 1)
		t.next = next
		go func() { // ends with the line, or with the input
			text, err := cli.ReadLine(t.in)
			next <- lineRead{text, err}
		}()
	}
	t.mu.Unlock()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case got := <-next:
		t.mu.Lock()
		t.next = nil
		t.mu.Unlock()
		return got.text, got.err
	}
}

// asker asks a person, one question at a time.
type asker struct {
	mu     sync.Mutex
	person *person
	show   *reporter
}

// approve asks the person about one call. Without a terminal, and at the end of its input, the
// answer is no. Lines that were typed before the question do not count.
func (a *asker) approve(ctx context.Context, ask core.Ask) (core.Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.person.input == nil {
		a.show.Warning("there is no terminal to ask on, so " + ask.Call.Name + " is not allowed")
		return core.AnswerDeny, nil
	}
	a.show.Question(a.person.out, ask)
	for range maxQuestions {
		if err := a.person.input.forget(); err != nil { // an answer belongs to a question that was read
			a.show.Warning("what was typed before the question cannot be told from an answer, so " + ask.Call.Name + " is not allowed: " + err.Error())
			return core.AnswerDeny, nil
		}
		a.show.Ask(a.person.out, "allow it? [y]es, [n]o, [s] for the session: "+ask.Lasting)
		text, err := a.person.input.line(ctx)
		switch {
		case errors.Is(err, io.EOF):
			a.show.Warning("no answer, so the call is not allowed")
			return core.AnswerDeny, nil
		case err != nil && !errors.Is(err, cli.ErrLongLine):
			return core.AnswerDeny, err
		}
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "y", "yes":
			return core.AnswerAllow, nil
		case "s", "session":
			return core.AnswerSession, nil
		case "n", "no":
			return core.AnswerDeny, nil
		}
	}
	return core.AnswerDeny, nil
}

// approveEdits asks about edits of skills, which have a difference to show, and allows all
// other calls.
func (a *asker) approveEdits(ctx context.Context, ask core.Ask) (core.Answer, error) {
	if ask.Detail == "" {
		return core.AnswerAllow, nil
	}
	return a.approve(ctx, ask)
}

// Question prints a call that the person has to decide on.
func (r *reporter) Question(to io.Writer, ask core.Ask) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endLine()
	args := ask.Call.Arguments
	if more := len(args) - maxShown; more > 0 {
		args = fmt.Sprintf("%s… and %d bytes more", args[:maxShown], more)
	}
	if ask.Detail != "" {
		args = "\n" + strings.TrimRight(cli.PrintableDiff(ask.Detail), "\n")
	}
	r.print(to, indent(fmt.Sprintf("gate    %s wants to call %s %s\n(%s; loaded: %s)",
		ask.Key.Agent, ask.Call.Name, args, ask.Reason, orNone(ask.Skills))))
}

// Ask prompts for an answer.
func (r *reporter) Ask(to io.Writer, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.print(to, "        "+cli.Printable(text)+"\n? ")
}
