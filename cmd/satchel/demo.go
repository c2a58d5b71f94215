package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/cmd/satchel/internal/demo"
	"github.com/satchel-go/satchel/internal/workspace"
	"github.com/satchel-go/satchel/satcheltest"
	skillrun "github.com/satchel-go/satchel/tools/run"
)

type demoCmd struct {
	Skills    string `arg:"" optional:"" name:"dir" help:"Where the skills of the story are (default: the program has them)."`
	Placement string `enum:"tool-result,system" default:"tool-result" placeholder:"PLACE" help:"Where loaded content goes: ${enum} (default ${default})."`
	Stream    bool   `help:"Let the model stream."`
}

// Help is the long help of the command.
func (demoCmd) Help() string {
	return `Runs one conversation of three turns through Eino and through langchaingo. The
model is a script on a port of 127.0.0.1; everything between your agent and that
port is real. Each model call is printed: what is unchanged (=), what is new (+)
and which skill's text went where. In the last turn a Python script of a skill
runs over a log; the files that it leaves are shown. It needs bash and python3.

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
	frameworks := []string{"eino", "langchaingo"}
	paper := demo.Printer{Out: c.out, Colour: c.colour, Names: host.names()}
	fmt.Fprintf(c.out, "One conversation, two frameworks, the skills of %s.\nThe model is a script; what it is sent is real.\n", cmp.Or(cmd.Skills, "the demo"))
	for i, prompt := range demo.Prompts() {
		fmt.Fprintf(c.out, "  turn %d: %s\n", i+1, prompt)
	}
	fmt.Fprintln(c.out, "Below: = as in the call before, + new, ~ changed in place, > what the model does")
	told := make([][]demo.Exchange, len(frameworks))
	var failed error
	for i, framework := range frameworks {
		exchanges, err := cmd.tell(ctx, framework, host)
		if err != nil && failed == nil {
			failed = fmt.Errorf("%s: %w", framework, err)
		}
		paper.Framework(framework, exchanges)
		told[i] = exchanges
	}
	fmt.Fprintln(c.out)
	for i, framework := range frameworks {
		paper.Summary(framework, demo.Sum(told[i]))
	}
	if failed != nil {
		return failed
	}
	if at := demo.Differ(told[0], told[1]); at != 0 {
		return fmt.Errorf("the frameworks differ in model call %d", at)
	}
	fmt.Fprintln(c.out, "Both frameworks sent the same messages and the same tools in every call.")
	return nil
}

// tell plays the story through one framework and returns its model calls.
func (cmd *demoCmd) tell(ctx context.Context, framework string, host *stage) ([]demo.Exchange, error) {
	log := demo.NewLog(demo.Script(host.log()))
	server, err := satcheltest.New(log.Answer)
	if err != nil {
		return nil, err
	}
	defer server.Close()
	flags := chatFlags{
		Framework: framework, MaxSteps: 10, Stream: cmd.Stream,
		skillFlags: skillFlags{Placement: cmd.Placement, MaxLoaded: 8, Profile: "full", Search: "auto"},
		System:     "You help with the chores of a software project.",
		runFlags:   runFlags{AllowHost: []string{host.dir}, Executor: "sandbox"},
	}
	if cmd.Skills != "" {
		flags.places = []catalog.Root{catalog.Dir(cmd.Skills)}
	} else {
		flags.carried = demo.Skills()
	}
	show := &reporter{out: io.Discard, err: io.Discard}
	chat, err := flags.open(ctx, endpoint{url: server.URL(), key: noKey, model: "scripted"}, skillrun.Policy{}, show)
	if err != nil {
		return nil, err
	}
	defer chat.close()
	for _, prompt := range demo.Prompts() {
		if err := chat.turn(ctx, prompt); err != nil {
			return log.Exchanges(), err
		}
	}
	return log.Exchanges(), nil
}
