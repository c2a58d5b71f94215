package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/demo"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/satcheltest"
	"github.com/satchel-go/satchel/session"
	skillrun "github.com/satchel-go/satchel/tools/run"
)

type demoCmd struct {
	Skills    string `arg:"" optional:"" name:"dir" help:"Where the skills of the story are (default: the program has them)."`
	Placement string `enum:"tool-result,system" default:"tool-result" placeholder:"PLACE" help:"Where loaded content goes: ${enum} (default ${default})."`
	Stream    bool   `help:"Let the model stream."`
}

// Help is the long help of the command.
func (demoCmd) Help() string {
	return `Runs one conversation of four turns through Eino and through langchaingo. The
model is a script on a port of 127.0.0.1; everything between your agent and that
port is real. Each model call through Eino is printed: what is unchanged (=), what is
new (+) and which skill's text went where. In the third turn a Python script of a
skill runs over a log; the files that it leaves are shown. Before the last turn an
hour passes in the conversation's record, so texts that are done with leave. At the
end stands what the same conversation sends with all skills in the prompt, and with
Eino's own skill middleware. It needs bash and python3.

Exit code: 0 when all went as scripted and both frameworks sent the same, 2 when
a program is missing.`
}

// Run plays the story through both frameworks and compares what they sent.
func (cmd *demoCmd) Run(ctx context.Context, c console) error {
	if err := needPrograms(workspace.SystemPath); err != nil {
		return err
	}
	host, err := newStage()
	if err != nil {
		return err
	}
	defer host.close()
	paper := demo.Printer{Out: c.out, Colour: c.colour, Names: host.names()}
	fmt.Fprintf(c.out, "One conversation, two frameworks, the skills of %s.\nThe model is a script; what it is sent is real.\n", cmp.Or(cmd.Skills, "the demo"))
	for i, prompt := range demo.Prompts() {
		fmt.Fprintf(c.out, "  turn %d: %s\n", i+1, prompt)
	}
	const first, second = "eino", "langchaingo"
	whole, err := cmd.tell(ctx, first, host, false)
	if len(whole) > 0 {
		paper.Overview(whole[0].Request)
	}
	fmt.Fprintln(c.out, "\nBelow: = as in the call before, + new, ~ changed in place, > what the model does")
	paper.Framework(first, whole)
	if err != nil {
		return fmt.Errorf("%s: %w", first, err)
	}
	again, err := cmd.tell(ctx, second, host, false)
	at := demo.Differ(whole, again)
	if at != 0 || err != nil {
		paper.Framework(second, again)
	} else {
		fmt.Fprintf(c.out, "\n== %s\n%s sent the same bytes: tools and messages of all %d model calls\n", second, second, len(again))
	}
	fmt.Fprintln(c.out)
	paper.Summary(first, demo.Sum(whole))
	paper.Summary(second, demo.Sum(again))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", second, err)
	case at != 0:
		return fmt.Errorf("the frameworks differ in model call %d", at)
	}
	fmt.Fprintln(c.out, "Both frameworks sent the same messages and the same tools in every call.")
	injected, err := cmd.tell(ctx, first, host, true)
	if err != nil {
		return fmt.Errorf("with all skills in the prompt: %w", err)
	}
	skills := demo.Skills()
	if cmd.Skills != "" {
		skills = os.DirFS(cmd.Skills)
	}
	compared, err := demo.Compare(ctx, skills, chores, whole, injected)
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	paper.Comparison(compared)
	return nil
}

// chores is the system message of the story.
const chores = "You help with the chores of a software project."

// tell plays the story through one framework and returns its model calls. injected puts
// the texts of all skills in front of the conversation.
func (cmd *demoCmd) tell(ctx context.Context, framework string, host *stage, injected bool) ([]demo.Exchange, error) {
	log := demo.NewLog(demo.Script(host.log()))
	server, err := satcheltest.New(log.Answer)
	if err != nil {
		return nil, err
	}
	defer server.Close()
	flags := chatFlags{
		Framework: framework, MaxSteps: 10, Stream: cmd.Stream,
		skillFlags: skillFlags{Placement: cmd.Placement, MaxLoaded: 8, Profile: "full", Search: "auto"},
		System:     chores,
		runFlags:   runFlags{AllowHost: []string{host.dir}, Executor: "sandbox"},
	}
	if cmd.Skills != "" {
		flags.places = []source.Root{source.Dir(cmd.Skills)}
	} else {
		flags.carried = demo.Skills()
	}
	if injected {
		flags.injectAll()
	}
	store := session.NewMemory()
	flags.memory = store
	show := &reporter{out: io.Discard, err: io.Discard}
	chat, err := flags.open(ctx, endpoint{url: server.URL(), key: noKey, model: "scripted"}, skillrun.Policy{}, show)
	if err != nil {
		return nil, err
	}
	defer chat.close()
	if injected {
		loads, err := everything(ctx, chat.runtime, chat.runtime.Catalog().Snapshot().Visible(), show)
		if err != nil {
			return nil, err
		}
		ctx = satchel.WithLoads(ctx, loads...)
	}
	prompts := demo.Prompts()
	for i, prompt := range prompts {
		if i == len(prompts)-1 {
			if err := anHourPasses(ctx, store, chat.session); err != nil {
				return log.Exchanges(), err
			}
		}
		if err := chat.turn(ctx, prompt); err != nil {
			return log.Exchanges(), err
		}
	}
	return log.Exchanges(), nil
}

// anHourPasses sets back the time of the last request that records of a session have. A
// prompt cache holds nothing after an hour.
func anHourPasses(ctx context.Context, store session.Store, id string) error {
	records := state.NewRecords(store)
	agents, err := records.Agents(ctx, id)
	if err != nil {
		return err
	}
	for _, agent := range agents {
		rec, err := records.Load(ctx, core.SessionKey{Session: id, Agent: agent})
		if err == nil {
			_, err = records.UpdateFrom(ctx, rec, func(rec *state.Record) (*state.Record, error) {
				next := rec.Clone()
				next.Sent = max(next.Sent-3600, 0)
				return next, nil
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
