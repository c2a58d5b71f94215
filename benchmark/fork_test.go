package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/benchmark/internal/scenario"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/tools"
)

// chatTurns is how many turns of chat follow the turn of the skill.
var chatTurns = []int{0, 5, 20}

// What a long skill costs that is used once, in the conversation and as an agent of its own. The
// conversation is the first turn of outage-review, then turns of chat. Both use the same tools with
// the same results, and say the same answer.
func TestForkCosts(t *testing.T) {
	all, err := scenario.ReadDir("scenarios")
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(s *scenario.Scenario) bool { return s.Name == "outage-review" })
	var table strings.Builder
	table.WriteString("# chat turns, way: requests, prompt, peak of the conversation | cost at " + strings.Join(promised, " ") + "\n")
	for _, n := range chatTurns {
		var costs []string
		for _, isForked := range []bool{false, true} {
			totals := oneShot(t, all[at], isForked, n)
			way := map[bool]string{false: "inline", true: "forked"}[isForked]
			requests, tokens, sums := 0, 0, make([]float64, len(promised))
			for _, total := range totals {
				requests, tokens = requests+total.Requests, tokens+total.Prompt
				for i, price := range promised {
					sums[i] += total.At(price).ITE
				}
			}
			fmt.Fprintf(&table, "%d %s: %d %d %d |", n, way, requests, tokens, totals[0].Peak)
			for _, sum := range sums {
				fmt.Fprintf(&table, " %.1f", sum)
			}
			table.WriteByte('\n')
			costs = append(costs, thousands(fmt.Sprintf("%.0f", sums[0]))+" / "+thousands(fmt.Sprintf("%.0f", sums[1])), thousands(fmt.Sprint(totals[0].Peak)))
		}
		says(t, "README.md", fmt.Sprintf("| %d | %s | %s | %s | %s |", n, costs[0], costs[2], costs[1], costs[3]))
	}
	const file = "testdata/fork.txt"
	if got := table.String(); got != readTable(t, file) {
		if !*update {
			t.Fatalf("%s has changed:\n%srun the test with -update if that is meant", file, got)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// oneShot plays the conversation and measures its requests, and in a second place those of the fork.
func oneShot(t *testing.T, s *scenario.Scenario, isForked bool, chat int) []cachemodel.Totals {
	t.Helper()
	p := &onceHost{t: t, s: s, isForked: isForked}
	opts := []satchel.Option{satchel.WithSkillDirs("skills"), satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly})}
	if isForked {
		opts = append(opts, satchel.WithFork(satchel.Fork{Run: p.fork, Skills: []string{p.skill()}, MaxTurns: 100}))
	}
	var err error
	if p.runtime, err = satchel.New(opts...); err != nil {
		t.Fatal(err)
	}
	defer p.runtime.Close()
	main := &talk{onceHost: p, key: core.SessionKey{Session: s.Name}, gauge: p.gauge(), messages: []core.Message{{Role: core.System, Text: s.Instruction}}}
	p.forked = &talk{onceHost: p, gauge: p.gauge()}
	if p.isForked {
		main.turn(t.Context(), s.Turns[0].User, []scenario.Step{{Need: p.skill()}, {Say: p.answer()}})
	} else {
		main.turn(t.Context(), s.Turns[0].User, s.Turns[0].Steps)
	}
	for i := range chat {
		main.turn(t.Context(), fmt.Sprintf("Question %d: what do we tell the workshops about this?", i+1), []scenario.Step{{Say: fmt.Sprintf("Answer %d: that orders were late and none was lost.", i+1)}})
	}
	return []cachemodel.Totals{main.gauge.Done(), p.forked.gauge.Done()}
}

// onceHost is a host whose model follows the first turn of a scenario.
type onceHost struct {
	t        *testing.T
	s        *scenario.Scenario
	isForked bool
	runtime  *satchel.Runtime
	forked   *talk
}

// skill returns the skill of the turn.
func (p *onceHost) skill() string {
	steps := p.s.Turns[0].Steps
	return steps[slices.IndexFunc(steps, func(s scenario.Step) bool { return s.Need != "" })].Need
}

// answer returns what the model says at the end of the turn.
func (p *onceHost) answer() string { return p.s.Turns[0].Steps[len(p.s.Turns[0].Steps)-1].Say }

func (p *onceHost) gauge() *cachemodel.Gauge {
	renderer, err := prompt.NewO200k()
	if err != nil {
		p.t.Fatal(err)
	}
	return cachemodel.NewGauge(renderer, cachemodel.Prices())
}

// fork plays the turn as the agent of the skill.
func (p *onceHost) fork(ctx context.Context, r satchel.ForkRequest) (string, error) {
	p.forked.key, p.forked.messages = r.Key, []core.Message{{Role: core.System, Text: p.s.Instruction}}
	steps := slices.DeleteFunc(slices.Clone(p.s.Turns[0].Steps), func(s scenario.Step) bool { return s.Need != "" && len(s.Docs) == 0 })
	p.forked.turn(ctx, r.Task, steps)
	return p.answer(), nil
}

// talk is the conversation of one agent.
type talk struct {
	*onceHost
	key      core.SessionKey
	gauge    *cachemodel.Gauge
	messages []core.Message
	calls    int
}

// turn plays the steps after a message of the user.
func (c *talk) turn(ctx context.Context, text string, steps []scenario.Step) {
	c.t.Helper()
	c.messages = append(c.messages, core.Message{Role: core.User, Text: text})
	for _, step := range steps {
		view, err := c.runtime.Prepare(ctx, core.Request{Key: c.key, Messages: c.messages})
		if err != nil {
			c.t.Fatal(err)
		}
		c.measure(view.Messages)
		call := core.ToolCall{Name: step.Tool, Arguments: string(step.Args)}
		switch {
		case step.Need != "" && len(step.Docs) > 0:
			call = core.ToolCall{Name: "skill_select_docs", Arguments: fmt.Sprintf(`{"skill":%q,"docs":["%s"],"mode":"add"}`, step.Need, strings.Join(step.Docs, `","`))}
		case step.Need != "":
			call = core.ToolCall{Name: "skill_load", Arguments: fmt.Sprintf(`{"skill":%q}`, step.Need)}
		}
		var made []core.ToolCall
		if step.Say == "" {
			c.calls++
			call.ID = fmt.Sprintf("call_%d", c.calls)
			made = []core.ToolCall{call}
		}
		if err := c.runtime.Hooks().Observe(ctx, c.key, made); err != nil {
			c.t.Fatal(err)
		}
		c.messages = append(c.messages, core.Message{Role: core.Assistant, Text: step.Say, Calls: made})
		if made == nil {
			return
		}
		result := step.Result
		if step.Need != "" {
			if result, err = c.runtime.CallTool(ctx, c.key, call); err != nil {
				c.t.Fatal(err)
			}
		}
		c.messages = append(c.messages, core.Message{Role: core.ToolResult, CallID: call.ID, Tool: call.Name, Text: result})
	}
}

// measure adds a request to the gauge. All requests come at once, so the cache forgets nothing.
func (c *talk) measure(view []core.Message) {
	c.t.Helper()
	r := prompt.Request{Tools: slices.Clone(c.s.Tools)}
	for _, t := range c.runtime.Tools() {
		r.Tools = append(r.Tools, prompt.Tool{Name: t.Name, Description: t.Description, Parameters: t.Schema})
	}
	for _, m := range view {
		one := prompt.Message{Role: m.Role.String(), Content: m.Text, CallID: m.CallID, Name: m.Tool}
		for _, call := range m.Calls {
			one.Calls = append(one.Calls, prompt.Call{ID: call.ID, Name: call.Name, Arguments: call.Arguments})
		}
		r.Messages = append(r.Messages, one)
	}
	if _, err := c.gauge.Add(r, time.Duration(0)); err != nil {
		c.t.Fatal(err)
	}
}
