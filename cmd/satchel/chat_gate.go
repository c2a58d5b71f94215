package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/permission"
)

// gateFlags are the flags about which calls may be made.
type gateFlags struct {
	Policy  permission.Policy `default:"restrict" placeholder:"NAME" help:"What the allowed-tools of loaded skills mean: restrict (nothing else may be called), preapprove (they need no question) or off (default ${default})."`
	Approve string            `enum:"ask,always,never" default:"always" placeholder:"HOW" help:"What happens with calls that no list grants or denies: ${enum} (default ${default})."`

	// typed is where answers are read; demos have none.
	typed *typist `kong:"-"`
}

// options are those of the runtime.
func (f *gateFlags) options(show *reporter) []satchel.Option {
	opts := []satchel.Option{satchel.WithPolicy(f.Policy), satchel.WithEventHook(show.Happened)}
	switch f.Approve {
	case "never":
		opts = append(opts, satchel.WithApprover(func(context.Context, core.Ask) (core.Answer, error) {
			return core.AnswerDeny, nil
		}))
	case "ask":
		opts = append(opts, satchel.WithApprover((&asker{typed: f.typed, show: show}).approve))
	}
	return opts
}

// typist reads lines of standard input: prompts, and answers to questions.
type typist struct {
	in *bufio.Reader

	mu sync.Mutex
	// next gets the line of the read under way, which cannot be taken back.
	next chan typed
}

type typed struct {
	text string
	err  error
}

func newTypist(in io.Reader) *typist { return &typist{in: bufio.NewReader(in)} }

// line returns the next line. When ctx ends first, the line is for the next call.
func (t *typist) line(ctx context.Context) (string, error) {
	t.mu.Lock()
	next := t.next
	if next == nil {
		next = make(chan typed, 1)
		t.next = next
		go func() { // ends with the line, or with the input
			text, err := line(t.in)
			next <- typed{text, err}
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

// maxQuestions bounds how often one question is asked until it is answered.
const maxQuestions = 3

// asker asks a person, one question at a time.
type asker struct {
	mu    sync.Mutex
	typed *typist
	show  *reporter
}

// approve asks about one call. An end of the input is a no.
func (a *asker) approve(ctx context.Context, ask core.Ask) (core.Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.show.Question(ask)
	for range maxQuestions {
		a.show.Ask("allow it? [y]es, [n]o, [s] for the session: " + ask.Lasting)
		text, err := a.typed.line(ctx)
		switch {
		case errors.Is(err, io.EOF):
			a.show.Warning("no answer, so the call is not allowed")
			return core.AnswerDeny, nil
		case err != nil && !errors.Is(err, errLine):
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

// maxShown bounds the arguments in a question, in bytes.
const maxShown = 8 << 10

// Question shows a call that somebody has to decide on.
func (r *reporter) Question(ask core.Ask) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endLine()
	args := ask.Call.Arguments
	if more := len(args) - maxShown; more > 0 {
		args = fmt.Sprintf("%s… and %d bytes more", args[:maxShown], more)
	}
	r.print(r.err, indented(fmt.Sprintf("gate    %s wants to call %s %s\n(%s; loaded: %s)",
		ask.Key.Agent, ask.Call.Name, args, ask.Reason, orNone(ask.Skills))))
}

// Ask prompts for an answer.
func (r *reporter) Ask(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.print(r.err, "        "+printable(text)+"\n? ")
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// decisions are how events of the gate are called in --json.
var decisions = map[core.EventKind]string{core.ToolAllowed: "allowed", core.ToolAsked: "asked", core.ToolDenied: "denied"}

// Happened shows what the gate decided, but for calls that nothing speaks
// against and nobody was asked about.
func (r *reporter) Happened(_ context.Context, e core.Event) {
	decision, ok := decisions[e.Kind]
	if !ok || e.Kind == core.ToolAllowed && e.Rule == "" && !strings.HasPrefix(e.Detail, "approved") {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line(event{
		Event: "decision", ID: &e.Call.ID, Name: &e.Call.Name, Decision: &decision, Skill: &e.Skill, Rule: &e.Rule, Reason: &e.Detail,
	})
	r.endLine()
	by := e.Detail
	if e.Rule != "" {
		by += ": " + e.Rule + " of " + e.Skill
	}
	r.note("gate    %s %s (%s)", decision, e.Call.Name, by)
}
