package chat

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/observe/trace"
	"github.com/satchel-go/satchel/session"
)

// ToolCommand calls one tool as a model would.
type ToolCommand struct {
	SkillFlags   `embed:""`
	ForkFlags    `embed:"" group:"Skills that run as agents of their own:"`
	GateFlags    `embed:"" group:"Which calls may be made:"`
	libraryFlags `embed:"" group:"Skills of a library:"`
	RunFlags     `embed:"" group:"Commands that skills run (skill_run, profile full):"`
	TraceFlags   `embed:"" group:"A trace of what happens:"`
	Session      string   `placeholder:"ID" help:"Go on with this session of --store, or begin it there."`
	Store        string   `placeholder:"DIR" help:"Keep what is loaded in DIR, or on a server as chat does."`
	Prompt       string   `placeholder:"TEXT" default:"Begin." help:"What the user says in the first turn."`
	View         bool     `help:"Print what the model is shown of each result, with the texts of skills."`
	JSON         bool     `help:"Events too, as JSON objects, one per line."`
	Call         []string `arg:"" name:"call" help:"NAME JSON: one call. NAME -: each line of standard input is the arguments of one. -: each line is {\"tool\":\"…\",\"args\":{…}}, or {\"turn\":true} where the next user turn begins."`
}

// Help is the long help of the command.
func (ToolCommand) Help() string {
	return `Answers tool calls as an agent's model would be answered, without a model. Each answer is
one line, a JSON string; with --view it is what the model is shown there.

All calls are of one session and one user turn, each a message of its own; {"calls":[…]}
holds several calls of one message. With --fork, a skill that runs as an agent of its own
takes the model of the environment (satchel chat --help). {"turn":true,"prompt":"…"} begins the next turn. With
--session and --store the next command goes on with the same turn.`
}

// Run answers the calls.
func (cmd *ToolCommand) Run(ctx context.Context, c cli.Console) (err error) {
	if len(cmd.Call) > 2 {
		return fmt.Errorf("%w: want NAME JSON, NAME - or -", cli.ErrUsage)
	}
	show := &reporter{json: cmd.JSON, lifecycle: true, out: c.Out, err: c.Err}
	t, err := cmd.open(ctx, c, show)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	defer t.tracing.closeOn(nil, os.Interrupt, syscall.SIGTERM)()
	if err := t.resume(ctx, cmd.Prompt); err != nil {
		return err
	}
	name, args, single := cmd.Call[0], "", false
	switch {
	case len(cmd.Call) == 2 && cmd.Call[1] != "-":
		args, single = cmd.Call[1], true
	case len(cmd.Call) == 1 && name != "-":
		args, single = "{}", true
	}
	if single {
		return t.calls(ctx, []toolLine{{Tool: name, Args: json.RawMessage(args), raw: args}})
	}
	in := bufio.NewReader(c.In)
	for {
		text, err := cli.ReadLine(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read call: %w", err)
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		if name != "-" {
			err = t.calls(ctx, []toolLine{{Tool: name, raw: text}})
		} else {
			err = t.line(ctx, text)
		}
		if err != nil {
			return err
		}
	}
}

// toolLine is a line of standard input.
type toolLine struct {
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`
	Turn   bool            `json:"turn"`
	Prompt string          `json:"prompt"`
	Calls  []toolLine      `json:"calls"`
	raw    string
}

// arguments returns the arguments of the call as a model writes them.
func (l toolLine) arguments() string {
	var text string
	switch {
	case l.raw != "":
		return l.raw
	case len(l.Args) == 0:
		return "{}"
	case json.Unmarshal(l.Args, &text) == nil && bytes.HasPrefix(bytes.TrimSpace(l.Args), []byte(`"`)):
		return text
	}
	return string(l.Args)
}

// toolSession is a session whose tool calls come from the command line or standard input.
type toolSession struct {
	runtime   *satchel.Runtime
	work      *runResources
	store     session.Store
	open      io.Closer // the store, or its connections
	tracing   *tracing
	library   *places.Library
	key       core.SessionKey
	view      bool
	lasts     bool
	out       io.Writer
	messages  []core.Message
	turn      int
	callCount int
	token     string
	compact   func(context.Context, *satchel.Runtime) error
	tools     []string // of the agent
}

func (cmd *ToolCommand) open(ctx context.Context, c cli.Console, show *reporter) (_ *toolSession, err error) {
	if cmd.Session != "" && cmd.Store == "" {
		return nil, fmt.Errorf("%w: --session needs --store DIR, where it is kept", cli.ErrUsage)
	}
	policy, err := PolicyOf(c.Env)
	if err != nil {
		return nil, err
	}
	if cmd.Approve == "ask" {
		return nil, fmt.Errorf("%w: --approve ask: nobody is asked here; use always or never", cli.ErrUsage)
	}
	t := &toolSession{view: cmd.View, out: c.Out, lasts: cmd.Session != "", token: rand.Text(), compact: cmd.SkillFlags.compact}
	t.key = core.SessionKey{Session: "tool-" + rand.Text(), Agent: agentName}
	if t.lasts {
		t.key.Session = cmd.Session
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close())
		}
	}()
	if err := cmp.Or(cmd.SkillFlags.check(), cmd.ForkFlags.check(), cmd.TraceFlags.check()); err != nil {
		return nil, err
	}
	runFork, err := cmd.forkRun(c.Env)
	if err != nil {
		return nil, err
	}
	if t.library, err = cmd.libraryFlags.Open(ctx, c.Env); err != nil {
		return nil, err
	}
	cmd.Reader = &cmd.LibraryFlags
	if err := cmd.SkillFlags.Resolve(ctx, c, t.library == nil); err != nil {
		return nil, err
	}
	cmd.Remote = len(cmd.MCP) > 0
	if t.tracing, err = cmd.TraceFlags.open(c.Err, trace.WithoutCalls()); err != nil {
		return nil, err
	}
	opts := slices.Concat(t.tracing.options(), cmd.SkillFlags.options(), cmd.GateFlags.options(show, false), []satchel.Option{cmd.events(show.Happened)}, cmd.ForkFlags.options(runFork))
	libraryOptions, err := cmd.libraryFlags.options(t.library, cmd.Vocabulary)
	if err != nil {
		return nil, err
	}
	opts = append(opts, libraryOptions...)
	if cmd.Store != "" {
		if t.store, t.open, err = places.OpenStore(ctx, cmd.Store); err != nil {
			return nil, fmt.Errorf("%w: --store: %w", cli.ErrStart, err)
		}
		opts = append(opts, satchel.WithStore(t.store))
		if cmd.Artifacts == "" && places.Scheme(cmd.Store) == "" {
			cmd.Artifacts = filepath.Join(cmd.Store, "artifacts")
		}
	}
	if cmd.Profile == "full" {
		if t.work, err = cmd.RunFlags.open(ctx, policy); err != nil {
			return nil, err
		}
		opts = append(opts, satchel.WithRunner(t.work.runner))
	}
	if t.runtime, err = satchel.New(opts...); err != nil {
		return nil, cmd.explainNew(err)
	}
	if err := cmd.checkCompact(t.runtime); err != nil {
		return nil, err
	}
	showIgnoredForks(t.runtime, show)
	cmd.Warnings.CheckVisible(cmd.Roots, t.runtime.Catalog().Snapshot(), cmd.Audience)
	for _, tool := range t.runtime.Tools() {
		t.tools = append(t.tools, tool.Name)
	}
	awaitNeeds(ctx, t.runtime)
	return t, nil
}

// resume continues the turn of an earlier command, or begins the first turn.
func (t *toolSession) resume(ctx context.Context, prompt string) error {
	t.turn = 1
	if t.lasts {
		rec, err := state.NewRecords(t.store).Load(ctx, t.key)
		if err != nil {
			return err
		}
		if turn, ok := strings.CutPrefix(rec.Token, "tool-"); ok {
			if n, err := strconv.Atoi(turn); err == nil {
				t.turn = n
			}
		}
		t.token = "tool"
		t.callCount = rec.Calls
	}
	t.messages = append(t.messages, core.Message{Role: core.User, Text: prompt})
	return t.prepare(ctx, nil)
}

func (t *toolSession) inTurn(ctx context.Context) context.Context {
	ctx = satchel.WithSession(ctx, t.key.Session)
	return adapter.WithTurn(ctx, &adapter.Turn{Token: t.token + "-" + strconv.Itoa(t.turn), Continues: true})
}

// prepare makes the request that a model would get, and passes its messages to view.
func (t *toolSession) prepare(ctx context.Context, view func(last []core.Message)) error {
	if err := refresh(ctx, t.runtime); err != nil {
		return err
	}
	v, err := t.runtime.Prepare(t.inTurn(ctx), core.Request{Key: t.key, Messages: t.messages, Tools: t.tools})
	if err == nil && view != nil {
		view(v.Messages)
	}
	return err
}

// line answers the calls of a line of standard input, or begins a turn.
func (t *toolSession) line(ctx context.Context, text string) error {
	var l toolLine
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return fmt.Errorf(`%w: a line is {"tool":"…","args":{…}} or {"turn":true}: %w`, cli.ErrStart, cli.JSONError(err))
	}
	switch {
	case l.Turn:
		if err := t.runtime.Hooks().Observe(ctx, t.key, nil); err != nil {
			return err
		}
		if err := t.compact(t.inTurn(ctx), t.runtime); err != nil {
			return err
		}
		t.turn++
		if l.Prompt == "" {
			l.Prompt = "Go on."
		}
		t.messages = append(t.messages, core.Message{Role: core.Assistant, Text: "Done."}, core.Message{Role: core.User, Text: l.Prompt})
		return t.prepare(ctx, nil)
	case len(l.Calls) > 0:
		return t.calls(ctx, l.Calls)
	case l.Tool == "":
		return fmt.Errorf(`%w: a line is {"tool":"…","args":{…}} or {"turn":true}`, cli.ErrStart)
	}
	return t.calls(ctx, []toolLine{l})
}

// calls answers the calls of one message in their order and prints the answers.
func (t *toolSession) calls(ctx context.Context, lines []toolLine) error {
	ctx = t.inTurn(ctx)
	var made []core.ToolCall
	for _, l := range lines {
		t.callCount++
		made = append(made, core.ToolCall{ID: "call_" + strconv.Itoa(t.callCount), Name: l.Tool, Arguments: l.arguments()})
	}
	if err := t.runtime.Hooks().Observe(ctx, t.key, made); err != nil {
		return err
	}
	t.messages = append(t.messages, core.Message{Role: core.Assistant, Calls: made})
	var answers []string
	for _, call := range made {
		answer, err := t.answer(ctx, call)
		if err != nil {
			return err
		}
		t.messages = append(t.messages, core.Message{Role: core.ToolResult, CallID: call.ID, Tool: call.Name, Text: answer})
		answers = append(answers, answer)
	}
	if err := t.prepare(ctx, func(view []core.Message) {
		if t.view {
			for i := range answers {
				answers[i] = view[len(view)-len(answers)+i].Text
			}
		}
	}); err != nil {
		return err
	}
	for _, answer := range answers {
		if err := cli.WriteJSON(t.out, answer); err != nil {
			return err
		}
	}
	return nil
}

// answer returns the answer of a skill tool. For a tool of the host it returns why the gate denies
// the call, or the answer for an unknown tool.
func (t *toolSession) answer(ctx context.Context, call core.ToolCall) (string, error) {
	opened, err := t.runtime.Agent(t.key).Open(ctx, call)
	if err != nil {
		return "", err
	}
	defer opened.Close()
	if !t.runtime.Hooks().Owns(call.Name) {
		d, err := opened.Gate(ctx)
		if err != nil || d.Denied {
			return d.Reason, err
		}
	}
	return opened.Run(ctx)
}

func (t *toolSession) close() error {
	var errs []error
	if t.runtime != nil {
		if !t.lasts {
			errs = append(errs, t.runtime.EndSession(context.Background(), t.key.Session))
		}
		errs = append(errs, t.runtime.Close())
	}
	t.tracing.close()
	if t.work != nil {
		errs = append(errs, t.work.Close())
	}
	if t.open != nil {
		errs = append(errs, t.open.Close())
	}
	errs = append(errs, t.library.Close())
	return errors.Join(errs...)
}
