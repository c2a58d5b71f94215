// Package chat holds the commands that make agents of a framework or answer for one: chat and tool,
// and doctor, which says where their commands would run.
package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// errSteps ends a turn in which the model kept calling tools until --max-steps.
var errSteps = errors.New("no answer within the allowed model calls; raise --max-steps")

// Flags are the flags that describe the agent.
type Flags struct {
	Framework    string            `group:"The agent:" enum:"eino,langchaingo" default:"eino" placeholder:"NAME" help:"The framework that runs the agent: ${enum} (default ${default})."`
	Agent        string            `group:"The agent:" enum:"functions,mrkl,conversational" default:"functions" placeholder:"KIND" help:"The agent of langchaingo: functions, or mrkl and conversational, which work in text (default ${default})."`
	SubAgent     map[string]string `group:"The agent:" mapsep:"none" placeholder:"NAME=DIR" help:"An agent that the model can call as a tool, with the skills of a directory of its own; may be repeated. While a skill with a list is loaded, the list bounds it too."`
	System       string            `group:"The agent:" placeholder:"TEXT" help:"System message, sent verbatim."`
	MaxSteps     int               `group:"The agent:" default:"40" placeholder:"N" help:"How many model calls a turn may take (default ${default})."`
	Stream       bool              `group:"The agent:" help:"Use the streaming interface. On a terminal, and as delta events, text is shown as it comes."`
	SkillFlags   `embed:""`
	ForkFlags    `embed:"" group:"Skills that run as agents of their own:"`
	GateFlags    `embed:"" group:"Which calls may be made:"`
	libraryFlags `embed:"" group:"Skills of a library:"`
	RequestLog   string `group:"The agent:" placeholder:"FILE" help:"Append the requests of the model and the reasons why texts were cleared to FILE, which satchel cache-report reads. It holds all that is said."`
	TraceFlags   `embed:"" group:"A trace of what happens:"`
	Out          string `group:"What commands read and leave:" placeholder:"DIR" help:"Copy what a turn saves as artifacts to DIR, at the end of the turn; nothing that is there is overwritten."`
	storeFlags   `embed:"" group:"Conversations that are kept:"`
	RunFlags     `embed:"" group:"Commands that skills run (skill_run, profile full):"`
	// env is the environment, nil for none.
	env func(string) string
	// Memory stores the records of the session. Nil is a store of the runtime.
	Memory session.Store `kong:"-"`
	log    *requestLog   // of RequestLog
	// helpers are the runtimes of the agents of SubAgent, by name.
	helpers map[string]*satchel.Runtime
	// more are further options of the runtime.
	more []satchel.Option
	// hook gets all events too, and transport sends the requests of the model. Both may be nil.
	hook      func(context.Context, core.Event)
	transport http.RoundTripper
}

// roundTripper returns the transport for the requests of a helper, or of the agent itself if the name
// is "".
func (f *Flags) roundTripper(helper string) http.RoundTripper {
	if f.transport != nil {
		return f.transport
	}
	return f.log.transport(helper)
}

// Command starts a chat with an agent that has skills.
type Command struct {
	Flags   `embed:""`
	Model   string   `placeholder:"NAME" help:"The model that answers. Default: $$OPENAI_MODEL."`
	Verbose bool     `short:"v" help:"Tool calls, results, usage and findings about skills on standard error."`
	JSON    bool     `help:"One JSON event per line on standard output."`
	Prompts []string `arg:"" optional:"" name:"prompt" help:"One user turn each. None: each line of standard input is one."`
}

// Help is the long help of the command.
func (Command) Help() string {
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
  answer text, or error error            the turn was answered, or was not
  diagnostic   diagnostic                a finding or a warning about skills
  fork.begun, fork.ended  skill, detail  a skill runs as an agent of its own;
                                         its events have the field fork
  content.budget, skill.needs  phase, skill, detail: too much text, or needs
With --lifecycle also catalog.scanned, skill.discovered, skill.registered,
skill.activated, skill.loaded, skill.executing, skill.completed, likewise.

Flags stand before or after the prompts, not between them. A prompt that begins
with a hyphen needs -- before it.`
}

// agentName is the name of the agent of a chat in its session. It is the same in both frameworks, so that
// a conversation goes on in the other one with the texts that are pinned.
const agentName = "chat"

// agent is a conversation through one framework. It keeps the messages of the turns
// that were answered.
type agent interface {
	// Turn sends a prompt and returns the answer. It reports calls and results while it waits. The
	// error wraps errSteps if the model needed too many calls.
	Turn(ctx context.Context, prompt string) (string, error)
}

// Endpoint is the API of the model: its base URL, key and model name.
type Endpoint struct {
	URL, Key, Model string
}

// NoKey is sent to an endpoint that needs no key, because the clients refuse an
// empty one.
const NoKey = "none"

// NewEndpoint reads the endpoint from the environment. model, if not empty, replaces OPENAI_MODEL.
func NewEndpoint(env func(string) string, model string) (Endpoint, error) {
	e := Endpoint{
		URL:   strings.TrimRight(env("OPENAI_BASE_URL"), "/"),
		Key:   env("OPENAI_API_KEY"),
		Model: cmp.Or(model, env("OPENAI_MODEL")),
	}
	switch {
	case e.Model == "":
		return e, fmt.Errorf("%w: set OPENAI_MODEL, or --model, to the name of the model", cli.ErrUsage)
	case e.URL == "" && e.Key == "":
		return e, fmt.Errorf("%w: set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint of your own (its key may stay empty)", cli.ErrUsage)
	case e.URL == "":
		e.URL = "https://api.openai.com/v1"
	case e.Key == "":
		e.Key = NoKey
	}
	return e, nil
}

// onTermination calls clean and ends the program when a signal asks it to end. It
// does not wait for a prompt, because reading a line cannot be interrupted. The
// function that it returns removes the handler; once the program is ending, that
// function blocks.
func onTermination(clean func()) (stop func()) {
	ending, release := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	undo := context.AfterFunc(ending, func() {
		clean()
		os.Exit(cli.ExitFailed)
	})
	return func() {
		if !undo() {
			select {}
		}
		release()
	}
}

// Run talks until the prompts are used up.
func (cmd *Command) Run(ctx context.Context, c cli.Console) error {
	where, err := NewEndpoint(c.Env, cmd.Model)
	if err != nil {
		return err
	}
	policy, err := PolicyOf(c.Env)
	if err != nil {
		return err
	}
	cmd.Reader = &cmd.LibraryFlags
	if err := cmd.SkillFlags.Resolve(ctx, c, false); err != nil {
		return err
	}
	cmd.Remote = len(cmd.MCP) > 0
	cmd.Warnings.WithoutFindings = cmd.Verbose // the reporter shows them all
	show := &reporter{json: cmd.JSON, verbose: cmd.Verbose, stream: cmd.Stream, lifecycle: cmd.Lifecycle, live: cmd.Stream && c.Watched, watched: c.Watched, out: c.Out, err: c.Err}
	cmd.Warnings.Show = show.Warning
	cmd.env = c.Env
	cmd.input = newTypist(c.In)
	cmd.approver = cmd.person(c)
	defer cmd.approver.close()
	chat, err := cmd.Open(ctx, where, policy, show)
	if err != nil {
		return err
	}
	defer chat.Close()
	defer onTermination(chat.Close)()
	defer chat.tracing.closeOn(chat.isInTurn.Load, os.Interrupt)()
	unanswered := 0
	for prompt, err := range cmd.prompts(c) {
		if errors.Is(err, cli.ErrLongLine) {
			fmt.Fprintf(c.Err, "satchel: %v\n", err)
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
		if err := chat.Turn(ctx, prompt); err != nil {
			unanswered++
		}
		if err := show.Err(); err != nil {
			return fmt.Errorf("write answer: %w", err)
		}
	}
	if unanswered > 0 {
		return cli.ErrReported
	}
	return nil
}

// prompts returns the arguments or, without any, the lines of standard input that are not blank.
func (cmd *Command) prompts(c cli.Console) iter.Seq2[string, error] {
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
			if c.Terminal {
				fmt.Fprint(c.Err, "> ")
			}
			p, err := cmd.input.line(context.Background())
			if errors.Is(err, io.EOF) {
				break
			}
			if (err != nil || strings.TrimSpace(p) != "") && !yield(p, err) {
				return
			}
			if err != nil && !errors.Is(err, cli.ErrLongLine) {
				return
			}
		}
		if c.Terminal {
			fmt.Fprintln(c.Err)
		}
	}
}
