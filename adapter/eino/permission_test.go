package eino_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/internal/testing/bypasstest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
)

// countingTools are tools of the host that record the numbers of the calls that reach them.
type countingTools struct {
	mu      sync.Mutex
	reached map[int]int
}

func (c *countingTools) run(_ context.Context, args string) (string, error) {
	var call struct{ N int }
	if err := json.Unmarshal([]byte(args), &call); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reached[call.N]++
	return "done", nil
}

// ofKind is a tool of the host of one of the four kinds.
func ofKind(kind string, t hostTool) tool.BaseTool {
	switch kind {
	case "streamable":
		return onlyStream{&streamTool{t}}
	case "enhanced":
		return onlyEnhanced{&enhancedTool{t}}
	case "enhanced_streamable":
		return onlyEnhancedStream{&enhancedTool{t}}
	}
	return &t
}

// playModel makes a model that acts a play, and an agent with its tools.
func playModel(t *testing.T, play *bypasstest.Play, opts ...satchel.Option) (*scripted, *countingTools, adk.Agent) {
	t.Helper()
	var replies []*schema.Message
	for _, calls := range play.Messages {
		var made []schema.ToolCall
		for i, c := range calls {
			made = append(made, call(fmt.Sprintf("call_%d", i), c.Tool, c.Arguments)) // messages reuse the ids
		}
		if made == nil {
			replies = append(replies, say("done"))
			continue
		}
		replies = append(replies, calling(made...))
	}
	m, c := script(replies...), &countingTools{reached: map[int]int{}}
	cfg := &adk.ChatModelAgentConfig{Model: m, MaxIterations: 50}
	names, shell := bypasstest.Tools(kinds)
	for _, name := range names {
		_, kind, _ := strings.Cut(name, "_")
		cfg.ToolsConfig.Tools = append(cfg.ToolsConfig.Tools, ofKind(kind, hostTool{name: name, run: c.run}))
		if shell(name) {
			opts = append(opts, satchel.WithPermissions(satchel.Permissions{HostTools: []permission.Tool{{Name: name, As: []string{"Bash"}, Takes: permission.Command, Field: "command"}}}))
		}
	}
	rt, err := satchel.New(append(opts, satchel.WithSkillFS("play", bypasstest.Skills()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rt.Close() })
	install(t, cfg, rt)
	return m, c, newAgent(t, cfg)
}

// TestNoForbiddenCallReachesATool plays every policy with every way to combine lists, in every
// load mode, with tools of all four kinds. A short run plays every policy once. A streamed
// message has no enhanced tools, because two of them race inside of Eino;
// TestEnhancedToolsStreamedOneByOne tests them.
func TestNoForbiddenCallReachesATool(t *testing.T) {
	plays := map[bool]*bypasstest.Play{false: bypasstest.NewPlay(kinds...), true: bypasstest.NewPlay(kinds[:2]...)}
	for _, policy := range []permission.Policy{permission.Restrict, permission.RestrictAll, permission.Preapprove, permission.Off} {
		for _, combine := range []permission.Combine{permission.Union, permission.Intersection, permission.Latest} {
			for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Once, loadmode.Session} {
				if testing.Short() && (combine != permission.Union || mode != loadmode.Turn) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", policy, combine, mode), func(t *testing.T) {
					both(t, func(t *testing.T, streaming bool) {
						play := plays[streaming]
						m, c, agent := playModel(t, play, satchel.WithPermissions(satchel.Permissions{Policy: policy, Combine: combine}), satchel.WithLoading(satchel.Loading{Mode: mode}))
						for _, user := range []string{"first", "second", "third"} {
							noErrors(t, run(t, agent, "s", streaming, schema.UserMessage(user)))
						}
						wrong := 0
						for _, calls := range play.Messages {
							for _, call := range calls {
								want := 0
								if call.Passes(policy.String(), combine.String(), mode.String()) {
									want = 1
								}
								if got := c.reached[call.Number]; call.Number > 0 && got != want && wrong < 5 {
									wrong++
									t.Errorf("%s %s reached its tool %d times, want %d", call.Tool, call.Arguments, got, want)
								}
							}
						}
						for _, names := range m.offered {
							if !slices.Equal(names, m.offered[0]) {
								t.Errorf("the tools have changed from %v to %v", m.offered[0], names)
							}
						}
					})
				})
			}
		}
	}
}

func TestEnhancedToolsStreamedOneByOne(t *testing.T) {
	for _, kind := range kinds[2:] {
		one := bypasstest.NewPlay(kind)
		load := []bypasstest.Call{{Tool: "skill_load", Arguments: `{"skill":"a"}`}}
		play := &bypasstest.Play{Messages: [][]bypasstest.Call{load}}
		for _, call := range one.Messages[6][1:] { // in these calls one list applies
			play.Messages = append(play.Messages, []bypasstest.Call{call})
		}
		play.Messages = append(play.Messages, nil)
		_, c, agent := playModel(t, play)
		noErrors(t, run(t, agent, "s", true, schema.UserMessage("q")))
		for _, calls := range play.Messages[1 : len(play.Messages)-1] {
			if passes := calls[0].Passes("restrict", "union", "turn"); (c.reached[calls[0].Number] == 1) != passes {
				t.Errorf("%s %s reached its tool: %v, want %v", calls[0].Tool, calls[0].Arguments, !passes, passes)
			}
		}
	}
}

// If lists govern all tools, the handler of unknown tools gets only calls that a list allows.
func TestListsHoldForUnknownTools(t *testing.T) {
	m := script(calling(call("1", "ghost", "{}"), call("2", "skill_load", `{"skill":"a"}`), call("3", "ghost", "{}"), call("4", "left_ghost", "{}")), say("done"))
	var handled []string
	cfg := &adk.ChatModelAgentConfig{Model: m}
	cfg.ToolsConfig.UnknownToolsHandler = func(_ context.Context, name, _ string) (string, error) {
		handled = append(handled, name)
		return "no such tool", nil
	}
	cfg.ToolsConfig.ExecuteSequentially = true
	rt, err := satchel.New(satchel.WithSkillFS("play", bypasstest.Skills()), satchel.WithPermissions(satchel.Permissions{Policy: permission.RestrictAll}))
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	install(t, cfg, rt)
	noErrors(t, run(t, newAgent(t, cfg), "s", false, schema.UserMessage("q")))
	if !slices.Equal(handled, []string{"ghost", "left_ghost"}) {
		t.Errorf("the handler got %v", handled)
	}
}

// The answer to a load names what the agent's tools lose.
func TestLoadNamesTheAgentsTools(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		m, _, agent := playModel(t, &bypasstest.Play{Messages: [][]bypasstest.Call{{{Tool: "skill_load", Arguments: `{"skill":"a"}`}}, nil}})
		noErrors(t, run(t, agent, "s", streaming, schema.UserMessage("q")))
		answer := text(m.request(t, 1)[len(m.request(t, 1))-1])
		if !strings.Contains(answer, "tools allowed now: Bash(echo:*), left_*; not available until the user's next message: right_invokable, right_streamable, ") || strings.Contains(answer, "sh_") {
			t.Errorf("the answer is %s", answer)
		}
	})
}
