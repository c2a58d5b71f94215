package measure

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/chat"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/satcheltest"
	"github.com/satchel-go/satchel/session"
	skillrun "github.com/satchel-go/satchel/tools/run"
)

// DemoCommand plays one task with a scripted model.
type DemoCommand struct {
	Skills    string `arg:"" optional:"" name:"dir" help:"Where the skills of the story are (default: the program has them)."`
	Placement string `enum:"tool-result,system" default:"tool-result" placeholder:"PLACE" help:"Where loaded content goes: ${enum} (default ${default})."`
	Stream    bool   `help:"Let the model stream."`
}

// Help is the long help of the command.
func (DemoCommand) Help() string {
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
func (cmd *DemoCommand) Run(ctx context.Context, c cli.Console) error {
	if err := needPrograms(workspace.SystemPath); err != nil {
		return err
	}
	host, err := newStage()
	if err != nil {
		return err
	}
	defer host.close()
	paper := Printer{Out: c.Out, Colour: c.Colour, Names: host.names()}
	fmt.Fprintf(c.Out, "One conversation, two frameworks, the skills of %s.\nThe model is a script; what it is sent is real.\n", cmp.Or(cmd.Skills, "the demo"))
	for i, prompt := range Prompts() {
		fmt.Fprintf(c.Out, "  turn %d: %s\n", i+1, prompt)
	}
	const first, second = "eino", "langchaingo"
	whole, err := cmd.tell(ctx, first, host, false)
	if len(whole) > 0 {
		paper.Overview(whole[0].Request)
	}
	fmt.Fprintln(c.Out, "\nBelow: = as in the call before, + new, ~ changed in place, > what the model does")
	paper.Framework(first, whole)
	if err != nil {
		return fmt.Errorf("%s: %w", first, err)
	}
	again, err := cmd.tell(ctx, second, host, false)
	at := Differ(whole, again)
	if at != 0 || err != nil {
		paper.Framework(second, again)
	} else {
		fmt.Fprintf(c.Out, "\n== %s\n%s sent the same bytes: tools and messages of all %d model calls\n", second, second, len(again))
	}
	fmt.Fprintln(c.Out)
	paper.Summary(first, Sum(whole))
	paper.Summary(second, Sum(again))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", second, err)
	case at != 0:
		return fmt.Errorf("the frameworks differ in model call %d", at)
	}
	fmt.Fprintln(c.Out, "Both frameworks sent the same messages and the same tools in every call.")
	injected, err := cmd.tell(ctx, first, host, true)
	if err != nil {
		return fmt.Errorf("with all skills in the prompt: %w", err)
	}
	skills := Skills()
	if cmd.Skills != "" {
		skills = os.DirFS(cmd.Skills)
	}
	compared, err := Compare(ctx, skills, chores, whole, injected)
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
func (cmd *DemoCommand) tell(ctx context.Context, framework string, host *stage, injected bool) ([]Exchange, error) {
	log := NewLog(Script(host.log()))
	server, err := satcheltest.Open(log.Answer)
	if err != nil {
		return nil, err
	}
	defer server.Close()
	flags := chat.Flags{
		Framework: framework, MaxSteps: demoSteps, Stream: cmd.Stream,
		SkillFlags: chat.SkillFlags{Placement: cmd.Placement, MaxLoaded: 8, Profile: "full", Search: "auto"},
		System:     chores,
		RunFlags:   chat.RunFlags{AllowHost: []string{host.dir}, Executor: "sandbox"},
	}
	if cmd.Skills != "" {
		flags.Roots = []source.Root{source.Dir(cmd.Skills)}
	} else {
		flags.Carried = Skills()
	}
	if injected {
		flags.InjectAll()
	}
	store := session.NewMemory()
	flags.Memory = store
	show := chat.QuietReporter(io.Discard)
	talk, err := flags.Open(ctx, chat.Endpoint{URL: server.URL(), Key: chat.NoKey, Model: "scripted"}, skillrun.Policy{}, show)
	if err != nil {
		return nil, err
	}
	defer talk.Close()
	if injected {
		loads, err := chat.AllSkills(ctx, talk.Runtime, talk.Runtime.Catalog().Snapshot().Visible(), show)
		if err != nil {
			return nil, err
		}
		ctx = satchel.WithLoads(ctx, loads...)
	}
	prompts := Prompts()
	for i, prompt := range prompts {
		if i == len(prompts)-1 {
			if err := anHourPasses(ctx, store, talk.Session); err != nil {
				return log.Exchanges(), err
			}
		}
		if err := talk.Turn(ctx, prompt); err != nil {
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
