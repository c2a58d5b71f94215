package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/signal"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/skillmd"
	"github.com/satchel-go/satchel/tools"
)

// errSteps ends a turn in which the model went on calling tools.
var errSteps = errors.New("no answer within the allowed model calls; raise --max-steps")

// maxPrompt bounds a line of standard input in bytes.
const maxPrompt = 1 << 20

// chatFlags are the flags that say what the agent is.
type chatFlags struct {
	Framework string        `enum:"eino,langchaingo" default:"eino" placeholder:"NAME" help:"The framework that runs the agent: ${enum} (default ${default})."`
	Skills    []string      `sep:"none" placeholder:"DIR" help:"Directory that is searched for skills; may be repeated. No other place is searched."`
	LoadMode  loadmode.Mode `default:"turn" placeholder:"MODE" help:"How long loaded skills last: turn, once or session (default ${default})."`
	Placement string        `enum:"tool-result,system" default:"tool-result" placeholder:"PLACE" help:"Where loaded content goes: ${enum} (default ${default})."`
	MaxLoaded int           `default:"8" placeholder:"N" help:"How many skills may be loaded at a time (default ${default}); 0 is no limit."`
	Profile   string        `enum:"full,knowledge_only" default:"full" placeholder:"NAME" help:"Which skill tools the model is offered: ${enum} (default ${default})."`
	System    string        `placeholder:"TEXT" help:"System message, sent verbatim."`
	MaxSteps  int           `default:"40" placeholder:"N" help:"How many model calls a turn may take (default ${default})."`
	Stream    bool          `help:"Print text as it comes, also what the model says beside tool calls."`
}

type chatCmd struct {
	chatFlags `embed:""`
	Verbose   bool     `short:"v" help:"Tool calls, results, usage and findings about skills on standard error."`
	JSON      bool     `help:"One JSON event per line on standard output."`
	Prompts   []string `arg:"" optional:"" name:"prompt" help:"One user turn each. None: each line of standard input is one."`
}

// Help is the long help of the command.
func (chatCmd) Help() string {
	return `All turns are one session. Earlier turns are sent as their user and assistant
texts. Ctrl-C cancels the turn that runs.

The endpoint speaks the OpenAI chat completion format:
  OPENAI_BASE_URL  its base URL (default: the OpenAI API)
  OPENAI_API_KEY   the key; may be empty for an endpoint of your own
  OPENAI_MODEL     the model

Exit code: 0 when every turn was answered, 1 when one was not, 2 when nothing
was tried.

Events of --json, with the fields event, turn (from 1) and:
  turn         prompt                    a user turn begins
  delta        text                      a piece of text, with --stream
  text         text                      what the model says beside tool calls
  tool_call    id, name, arguments       arguments are the raw text
  tool_result  id, name, result          what the framework answers
  usage        prompt_tokens, cached_tokens, completion_tokens
  answer       text                      the turn was answered
  error        error                     the turn was not answered
  diagnostic   diagnostic                a finding about skills

Flags stand before or after the prompts, not between them. A prompt that begins
with a hyphen needs -- before it.`
}

// agent is a conversation through one framework. It keeps the texts of the
// turns that were answered.
type agent interface {
	// Turn sends a prompt and returns the answer. It reports on the way what
	// happens. The error wraps errSteps when the model calls were used up.
	Turn(ctx context.Context, prompt string) (string, error)
}

// endpoint is where the model is.
type endpoint struct {
	url, key, model string
}

// noKey is sent to an endpoint that wants none: the clients refuse an empty one.
const noKey = "none"

func newEndpoint(env func(string) string) (endpoint, error) {
	e := endpoint{
		url:   strings.TrimRight(env("OPENAI_BASE_URL"), "/"),
		key:   env("OPENAI_API_KEY"),
		model: env("OPENAI_MODEL"),
	}
	switch {
	case e.model == "":
		return e, fmt.Errorf("%w: set OPENAI_MODEL to the name of the model", errUsage)
	case e.url == "" && e.key == "":
		return e, fmt.Errorf("%w: set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint of your own (its key may stay empty)", errUsage)
	case e.url == "":
		e.url = "https://api.openai.com/v1"
	case e.key == "":
		e.key = noKey
	}
	return e, nil
}

// Run talks until the prompts are used up.
func (cmd *chatCmd) Run(ctx context.Context, c console) error {
	where, err := newEndpoint(c.env)
	if err != nil {
		return err
	}
	show := &reporter{json: cmd.JSON, verbose: cmd.Verbose, stream: cmd.Stream, out: c.out, err: c.err}
	chat, err := cmd.open(ctx, where, show)
	if err != nil {
		return err
	}
	defer chat.close()
	unanswered := 0
	for prompt, err := range cmd.prompts(c) {
		if err != nil {
			return fmt.Errorf("read prompt: %w", err)
		}
		if err := chat.turn(ctx, prompt); err != nil {
			unanswered++
		}
		if err := show.Err(); err != nil {
			return fmt.Errorf("write answer: %w", err)
		}
	}
	if unanswered > 0 {
		return errReported
	}
	return nil
}

// prompts are the arguments, or the lines of standard input that are not
// blank.
func (cmd *chatCmd) prompts(c console) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, p := range cmd.Prompts {
			if !yield(p, nil) {
				return
			}
		}
		if len(cmd.Prompts) > 0 {
			return
		}
		scanner := bufio.NewScanner(c.in)
		scanner.Buffer(nil, maxPrompt)
		for {
			if c.terminal {
				fmt.Fprint(c.err, "> ")
			}
			if !scanner.Scan() {
				break
			}
			if p := scanner.Text(); strings.TrimSpace(p) != "" && !yield(p, nil) {
				return
			}
		}
		if err := scanner.Err(); err != nil {
			yield("", err)
		} else if c.terminal {
			fmt.Fprintln(c.err)
		}
	}
}

// conversation is an agent with its runtime and session.
type conversation struct {
	agent   agent
	runtime *satchel.Runtime
	session string
	show    *reporter
	turns   int
	seen    *catalog.Snapshot
}

// open makes the runtime and the agent of the flags.
func (f *chatFlags) open(ctx context.Context, where endpoint, show *reporter) (*conversation, error) {
	if f.MaxSteps < 1 {
		return nil, fmt.Errorf("%w: --max-steps %d: want at least 1", errUsage, f.MaxSteps)
	}
	opts := []satchel.Option{
		satchel.WithSkillDirs(f.Skills...),
		satchel.WithLoadMode(f.LoadMode),
		satchel.WithMaxLoaded(f.MaxLoaded),
	}
	if f.Placement == "system" {
		opts = append(opts, satchel.WithPlacement(processors.InSystem))
	}
	if f.Profile == "knowledge_only" {
		opts = append(opts, satchel.WithProfile(tools.KnowledgeOnly))
	}
	rt, err := satchel.New(opts...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	connect := newEinoAgent
	if f.Framework == "langchaingo" {
		connect = newLangchainAgent
	}
	a, err := connect(ctx, rt, where, f, show)
	if err != nil {
		return nil, errors.Join(err, rt.Close())
	}
	return &conversation{agent: a, runtime: rt, session: "chat-" + rand.Text(), show: show}, nil
}

func (c *conversation) close() {
	// The process keeps state in memory only; there is nothing to lose.
	_ = c.runtime.EndSession(context.Background(), c.session)
	_ = c.runtime.Close()
}

// turn sends a prompt and shows what comes of it, an error included. Ctrl-C
// cancels it.
func (c *conversation) turn(ctx context.Context, prompt string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	c.turns++
	c.show.Turn(prompt)
	c.check(ctx)
	ctx = satchel.WithSession(ctx, c.session)
	ctx = satchel.BeginTurn(ctx, strconv.Itoa(c.turns))
	answer, err := c.agent.Turn(ctx, prompt)
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("cancelled")
		}
		c.show.Error(err)
		return err
	}
	c.show.Answer(answer)
	return nil
}

// check looks for changes of the skills and reports findings that are new.
func (c *conversation) check(ctx context.Context) {
	if err := c.runtime.Refresh(ctx); err != nil {
		c.show.Warning("skills are as they were: " + err.Error())
	}
	snapshot := c.runtime.Catalog().Snapshot()
	if snapshot == c.seen {
		return
	}
	c.seen = snapshot
	for _, d := range snapshot.Diagnostics() {
		if d.Severity > skillmd.Info {
			c.show.Diagnostic(d.String())
		}
	}
}

// unknownTool answers a call of a tool that the agent does not have.
func unknownTool(rt *satchel.Runtime, name string) string {
	names := make([]string, 0, len(rt.Tools()))
	for _, t := range rt.Tools() {
		names = append(names, t.Name)
	}
	if len(names) == 0 {
		return fmt.Sprintf("error: unknown tool %q: there are no tools", name)
	}
	return fmt.Sprintf("error: unknown tool %q: the tools are %s", name, strings.Join(names, ", "))
}
