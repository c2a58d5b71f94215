package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/session"
)

// errSteps ends a turn in which the model kept calling tools until --max-steps.
var errSteps = errors.New("no answer within the allowed model calls; raise --max-steps")

// maxPrompt bounds a line of standard input in bytes.
const maxPrompt = 1 << 20

// chatFlags are the flags that describe the agent.
type chatFlags struct {
	Framework    string            `group:"The agent:" enum:"eino,langchaingo" default:"eino" placeholder:"NAME" help:"The framework that runs the agent: ${enum} (default ${default})."`
	Agent        string            `group:"The agent:" enum:"functions,mrkl,conversational" default:"functions" placeholder:"KIND" help:"The agent of langchaingo: functions, or mrkl and conversational, which work in text (default ${default})."`
	SubAgent     map[string]string `group:"The agent:" mapsep:"none" placeholder:"NAME=DIR" help:"An agent that the model can call as a tool, with the skills of a directory of its own; may be repeated. While a skill with a list is loaded, the list bounds it too."`
	System       string            `group:"The agent:" placeholder:"TEXT" help:"System message, sent verbatim."`
	MaxSteps     int               `group:"The agent:" default:"40" placeholder:"N" help:"How many model calls a turn may take (default ${default})."`
	Stream       bool              `group:"The agent:" help:"Use the streaming interface. On a terminal, and as delta events, text is shown as it comes."`
	skillFlags   `embed:""`
	gateFlags    `embed:"" group:"Which calls may be made:"`
	libraryFlags `embed:"" group:"Skills of a library:"`
	Out          string `group:"What commands read and leave:" placeholder:"DIR" help:"Copy what a turn saves as artifacts to DIR, at the end of the turn; nothing that is there is overwritten."`
	storeFlags   `embed:"" group:"Conversations that are kept:"`
	runFlags     `embed:"" group:"Commands that skills run (skill_run, profile full):"`
	// env is the environment, nil for none.
	env func(string) string
	// memory keeps what the agent has loaded, nil for the runtime's own.
	memory session.Store
	// helpers are the runtimes of the agents of SubAgent, by name.
	helpers map[string]*satchel.Runtime
}

type chatCmd struct {
	chatFlags `embed:""`
	Model     string   `placeholder:"NAME" help:"The model that answers. Default: $$OPENAI_MODEL."`
	Verbose   bool     `short:"v" help:"Tool calls, results, usage and findings about skills on standard error."`
	JSON      bool     `help:"One JSON event per line on standard output."`
	Prompts   []string `arg:"" optional:"" name:"prompt" help:"One user turn each. None: each line of standard input is one."`
}

// Help is the long help of the command.
func (chatCmd) Help() string {
	return `All turns are one session. Earlier turns are sent whole, with their tool calls and
results, so that each request begins with the one before. Ctrl-C cancels the turn
that runs; a turn without an answer is not sent again. With --store the conversation
outlives the chat, and --resume goes on with it: the model is sent what one chat
would have sent. The prompts /help, /skills, /tools and /quit are answered on standard
error and are not sent; with --mentions slash a skill of that name is.

The endpoint speaks the OpenAI chat completion format:
  OPENAI_BASE_URL  its base URL (default: the OpenAI API)
  OPENAI_API_KEY   the key; may be empty for an endpoint of your own
  OPENAI_MODEL     the model, unless --model names one

Commands that the model runs:

With --profile full the model may run commands of the skills that it has loaded.
They run in a sandbox ("satchel doctor" shows what it holds here) and see the
system's programs, the skills and their workspace. With --executor local they
run as you and reach all that you reach, host files that --allow-host does not
name included. Their environment is empty but for the workspace's own variables.
These lists of names, separated by commas or spaces, restrict them to one simple
command at a time, without a shell:
  SATCHEL_RUN_ALLOWED_COMMANDS  nothing else may run
  SATCHEL_RUN_DENIED_COMMANDS   these may not run; advice, not a boundary
The workspace is removed at the end, and what a killed chat left by the next
chat that uses the same directory. What shall stay is saved by the call as an
artifact, in --artifacts; --out DIR copies it to where you find it. Nothing runs, and no workspace is made, with
--profile knowledge_only or without --skills.

Calls that are allowed, asked about or denied:

A loaded skill that declares allowed-tools restricts the agent's tools to them until the
turn ends (--policy, --combine). With --approve ask, you are asked on your terminal about
each call that no list decides on. Lines that are piped to standard input are prompts and
never answers; without a terminal such calls are denied.

Exit code: 0 when every turn was answered, 1 when one was not or SIGTERM or
SIGHUP ended the chat, 2 when nothing was tried.

Events of --json, with the fields event, turn (from 1) and:
  conversation id                        a new conversation is kept (turn is 0)
  turn         prompt                    a user turn begins
  delta        text                      a piece of text, with --stream
  text         text                      what the model says beside tool calls
  tool_call    id, name, arguments       arguments are the raw text
  decision     id, name, decision, skill, rule, reason
                                         a call was allowed, asked about or denied;
                                         left out where nothing speaks against it
  tool_result  id, name, result          what the framework answers
  usage        prompt_tokens, cached_tokens, completion_tokens
  answer       text                      the turn was answered
  error        error                     the turn was not answered
  diagnostic   diagnostic                a finding about skills
  content.budget  phase, skill, detail   the text of skills has become more than --content-budget warns of
With --lifecycle also, with the fields phase, skill and detail: catalog.scanned, skill.discovered, skill.registered,
skill.activated, skill.loaded, skill.executing and skill.completed.

Flags stand before or after the prompts, not between them. A prompt that begins
with a hyphen needs -- before it.`
}

// agent is a conversation through one framework. It keeps the messages of the turns
// that were answered.
type agent interface {
	// Turn sends a prompt and returns the answer. It reports on the way what
	// happens. The error wraps errSteps when the model calls were used up.
	Turn(ctx context.Context, prompt string) (string, error)
}

// endpoint is where the model is.
type endpoint struct {
	url, key, model string
}

// noKey is sent to an endpoint that needs no key, because the clients refuse an
// empty one.
const noKey = "none"

// newEndpoint reads the environment; a model that is named wins over it.
func newEndpoint(env func(string) string, model string) (endpoint, error) {
	e := endpoint{
		url:   strings.TrimRight(env("OPENAI_BASE_URL"), "/"),
		key:   env("OPENAI_API_KEY"),
		model: cmp.Or(model, env("OPENAI_MODEL")),
	}
	switch {
	case e.model == "":
		return e, fmt.Errorf("%w: set OPENAI_MODEL, or --model, to the name of the model", errUsage)
	case e.url == "" && e.key == "":
		return e, fmt.Errorf("%w: set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint of your own (its key may stay empty)", errUsage)
	case e.url == "":
		e.url = "https://api.openai.com/v1"
	case e.key == "":
		e.key = noKey
	}
	return e, nil
}

// onTermination calls clean and ends the program when a signal asks it to end. It
// does not wait for a prompt, because reading a line cannot be interrupted. The
// function that it returns removes the handler; once the program is ending, that
// function blocks.
func onTermination(clean func()) (stop func()) {
	told, release := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	undo := context.AfterFunc(told, func() {
		clean()
		os.Exit(exitFailed)
	})
	return func() {
		if !undo() {
			select {}
		}
		release()
	}
}

// Run talks until the prompts are used up.
func (cmd *chatCmd) Run(ctx context.Context, c console) error {
	where, err := newEndpoint(c.env, cmd.Model)
	if err != nil {
		return err
	}
	policy, err := newPolicy(c.env)
	if err != nil {
		return err
	}
	if err := cmd.skillDirs.resolve(ctx, c, false); err != nil {
		return err
	}
	cmd.remote = len(cmd.MCP) > 0
	cmd.told.uncoded = cmd.Verbose // the reporter shows them all
	show := &reporter{json: cmd.JSON, verbose: cmd.Verbose, stream: cmd.Stream, lifecycle: cmd.Lifecycle, live: cmd.Stream && c.watched, watched: c.watched, out: c.out, err: c.err}
	cmd.env = c.env
	cmd.typed = newTypist(c.in)
	cmd.asked = cmd.person(c)
	defer cmd.asked.close()
	chat, err := cmd.open(ctx, where, policy, show)
	if err != nil {
		return err
	}
	defer chat.close()
	defer onTermination(chat.close)()
	unanswered := 0
	for prompt, err := range cmd.prompts(c) {
		if errors.Is(err, errLine) {
			fmt.Fprintf(c.err, "satchel: %v\n", err)
			unanswered++
			continue
		}
		if err != nil {
			return fmt.Errorf("read prompt: %w", err)
		}
		if cmd.isLocal(chat, prompt) {
			if cmd.local(ctx, c, chat, prompt) {
				break
			}
			continue
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

// errLine reports a line of standard input that is too long to be a prompt.
var errLine = fmt.Errorf("a line has more than %d bytes and is left out", maxPrompt)

// line reads a line without its end and skips a line that is too long.
func line(in *bufio.Reader) (string, error) {
	var text []byte
	long := false
	for {
		part, more, err := in.ReadLine()
		if err != nil {
			return "", err
		}
		if long = long || len(text)+len(part) > maxPrompt; !long {
			text = append(text, part...)
		}
		if more {
			continue
		}
		if long {
			return "", errLine
		}
		return string(text), nil
	}
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
		for {
			if c.terminal {
				fmt.Fprint(c.err, "> ")
			}
			p, err := cmd.typed.line(context.Background())
			if errors.Is(err, io.EOF) {
				break
			}
			if (err != nil || strings.TrimSpace(p) != "") && !yield(p, err) {
				return
			}
			if err != nil && !errors.Is(err, errLine) {
				return
			}
		}
		if c.terminal {
			fmt.Fprintln(c.err)
		}
	}
}
