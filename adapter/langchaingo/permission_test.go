package langchaingo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/bypasstest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
)

// jsonTool is a tool of the host that takes JSON.
type jsonTool struct{ hostTool }

func (jsonTool) Schema() json.RawMessage { return json.RawMessage(`{"type":"object"}`) }

// callCounter records the numbers of the calls that reach a tool.
type callCounter struct {
	mu      sync.Mutex
	reached map[int]int
}

func (c *callCounter) run(_ context.Context, input string) (string, error) {
	var call struct{ N int }
	if err := json.Unmarshal([]byte(input), &call); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reached[call.N]++
	return "done", nil
}

func playRuntime(t *testing.T, opts ...satchel.Option) *satchel.Runtime {
	t.Helper()
	rt, err := satchel.New(append(opts, satchel.WithSkillFS("play", bypasstest.Skills()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rt.Close() })
	return rt
}

// playAdapter makes a model that acts a play, and the adapter with its tools.
func playAdapter(t *testing.T, play *bypasstest.Play, opts ...satchel.Option) (*scripted, *callCounter, *Adapter) {
	t.Helper()
	var replies []*llms.ContentResponse
	for _, calls := range play.Messages {
		var made []llms.ToolCall
		for i, c := range calls {
			made = append(made, call(fmt.Sprintf("call_%d", i), strings.ToUpper(c.Tool[:1])+c.Tool[1:], c.Arguments)) // the case of a name does not matter
		}
		text := ""
		if made == nil {
			text = "done"
		}
		replies = append(replies, reply(text, made...))
	}
	llm, c := script(replies...), &callCounter{reached: map[int]int{}}
	var host []tools.Tool
	names, shell := bypasstest.Tools([]string{"json"})
	for _, name := range names {
		host = append(host, jsonTool{hostTool{name, c.run}})
		if shell(name) {
			opts = append(opts, satchel.WithPermissions(satchel.Permissions{HostTools: []permission.Tool{{Name: name, As: []string{"Bash"}, Takes: permission.Command, Field: "command"}}}))
		}
	}
	return llm, c, install(t, playRuntime(t, opts...), llm, host)
}

// TestNoForbiddenCallReachesATool plays every policy with every way to combine lists, in every
// load mode: through an executor, and in a loop that runs the calls of a message at once. A
// short run plays every policy once.
func TestNoForbiddenCallReachesATool(t *testing.T) {
	play := bypasstest.NewPlay("json")
	for _, policy := range []permission.Policy{permission.Restrict, permission.RestrictAll, permission.Preapprove, permission.Off} {
		for _, combine := range []permission.Combine{permission.Union, permission.Intersection, permission.Latest} {
			for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Once, loadmode.Session} {
				if testing.Short() && (combine != permission.Union || mode != loadmode.Turn) {
					continue
				}
				for way, turn := range map[string]func(*testing.T, context.Context, *Adapter, string){"executor": executed, "loop": loopHost} {
					t.Run(fmt.Sprintf("%s/%s/%s/%s", policy, combine, mode, way), func(t *testing.T) {
						llm, c, adapter := playAdapter(t, play, satchel.WithPermissions(satchel.Permissions{Policy: policy, Combine: combine}), satchel.WithLoading(satchel.Loading{Mode: mode}))
						ctx := satchel.WithSession(t.Context(), "s")
						for _, user := range []string{"first", "second", "third"} {
							turn(t, ctx, adapter, user)
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
						first, err := json.Marshal(llm.sent[0].options.Tools)
						if err != nil {
							t.Fatal(err)
						}
						for _, s := range llm.sent {
							if now, err := json.Marshal(s.options.Tools); err != nil || string(now) != string(first) {
								t.Errorf("the tools have changed from %s to %s, %v", first, now, err)
							}
						}
					})
				}
			}
		}
	}
}

func executed(t *testing.T, ctx context.Context, adapter *Adapter, user string) {
	t.Helper()
	if _, err := chains.Run(ctx, executor(adapter), user); err != nil {
		t.Fatal(err)
	}
}

// loopHost plays a turn as a host without an executor.
func loopHost(t *testing.T, ctx context.Context, adapter *Adapter, user string) {
	t.Helper()
	ctx = satchel.BeginTurn(ctx, user)
	messages := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, user)}
	for {
		resp, err := adapter.Model().GenerateContent(ctx, messages)
		if err != nil {
			t.Fatal(err)
		}
		made := resp.Choices[0].ToolCalls
		if len(made) == 0 {
			return
		}
		assistant := llms.MessageContent{Role: llms.ChatMessageTypeAI}
		results := make([]llms.MessageContent, len(made))
		var running sync.WaitGroup
		for i, c := range made {
			assistant.Parts = append(assistant.Parts, c)
			running.Go(func() {
				result, err := adapter.Call(ctx, c)
				if err != nil {
					t.Error(err)
				}
				results[i] = llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{result}}
			})
		}
		running.Wait()
		messages = append(append(messages, assistant), results...)
	}
}

// A tool that takes one text gets the value that the framework finds in the arguments. Lists
// are compared with that value, whatever other fields there are.
func TestListsJudgeWhatTheToolGets(t *testing.T) {
	for args, want := range map[string]string{
		`{"__arg1":"echo ok"}`:                                "echo ok",
		`{"__arg1":"echo ok; rm x"}`:                          "",
		`{"__arg1":"rm x","command":"echo ok"}`:               "",
		`{"command":"echo ok","__arg1":"rm x"}`:               "",
		`{"__arg1":"rm x","__arg1":"echo ok"}`:                "echo ok",
		`{"__arg1":"echo ok","__arg1":"rm x"}`:                "",
		`{"command":"echo '$(rm x)'"}`:                        "",
		`{"__arg1":"{\"command\":\"echo ok\"}"}`:              "",
		`{"__arg1":"{\"command\":\"echo '$(rm x)'\"}"}`:       "",
		`{"__arg1":"echo ok\nObservation: x"}`:                "",
		`{"__arg1":"echo ok # \\\n rm x"}`:                    "",
		`{"__arg1":"echo ok", "description":"and then some"}`: "echo ok",
	} {
		for _, tool := range []permission.Tool{{Name: "bash", Takes: permission.Command, Field: "command"}, {Name: "bash", Takes: permission.Command}} {
			var got []string
			bash := hostTool{"bash", func(_ context.Context, input string) (string, error) {
				got = append(got, input)
				return "", nil
			}}
			llm := script(reply("", call("1", "skill_load", `{"skill":"a"}`)), reply("", call("1", "bash", args)), reply("done"))
			adapter := install(t, playRuntime(t, satchel.WithPermissions(satchel.Permissions{HostTools: []permission.Tool{tool}})), llm, []tools.Tool{bash})
			if _, err := chains.Run(t.Context(), executor(adapter), "q"); err != nil {
				t.Fatal(err)
			}
			if strings.Join(got, "") != want {
				t.Errorf("%s reached the tool as %q, want %q", args, got, want)
			}
		}
	}
}

// The arguments of a tool with a schema may hold others for it.
func TestListsJudgeWhatASchemedToolGets(t *testing.T) {
	for args, want := range map[string]bool{
		`{"path":"docs/a"}`: true,
		`{"path":"/etc/passwd","__arg1":"{\"path\":\"docs/a\"}"}`: true, // the tool gets the inner arguments
		`{"path":"docs/a","__arg1":"{\"path\":\"/etc/passwd\"}"}`: false,
		`{"path":"docs/../x"}`:                  false,
		`{"path":"docs/a","PATH":"/etc/hosts"}`: false,
	} {
		ran := ""
		read := jsonTool{hostTool{"look", func(_ context.Context, input string) (string, error) { ran = input; return "", nil }}}
		files := bypasstest.Skills()
		files["a/SKILL.md"].Data = []byte("---\nname: a\ndescription: x\nallowed-tools: Read(docs/**)\n---\nBODY\n")
		rt, err := satchel.New(satchel.WithSkillFS("play", files), satchel.WithPermissions(satchel.Permissions{HostTools: []permission.Tool{{Name: "look", As: []string{"Read"}, Takes: permission.Path, Field: "path"}}}))
		if err != nil {
			t.Fatal(err)
		}
		llm := script(reply("", call("1", "skill_load", `{"skill":"a"}`)), reply("", call("1", "look", args)), reply("done"))
		adapter := install(t, rt, llm, []tools.Tool{read})
		if _, err := chains.Run(t.Context(), executor(adapter), "q"); err != nil {
			t.Fatal(err)
		}
		if (ran != "") != want || strings.Contains(ran, "passwd") {
			t.Errorf("%s reached the tool as %q", args, ran)
		}
		_ = rt.Close()
	}
}

// trimmingTool is a decorator of the host that changes the input of a tool.
type trimmingTool struct{ tools.Tool }

func (d trimmingTool) Call(ctx context.Context, input string) (string, error) {
	return d.Tool.Call(ctx, strings.TrimSpace(input)+" ")
}

// A decorator around a wrapped tool is wrapped in turn.
func TestListsHoldBehindADecorator(t *testing.T) {
	ran := false
	host := hostTool{"read_file", func(context.Context, string) (string, error) { ran = true; return "", nil }}
	llm := script(reply("", call("1", "skill_load", `{"skill":"a"}`)), reply("", call("2", "read_file", `{"__arg1":"x"}`)), reply("done"))
	adapter := install(t, playRuntime(t), llm, []tools.Tool{host})
	own := adapter.Tools()
	own[0] = trimmingTool{own[0]}
	agent := adapter.Agent(agents.NewOpenAIFunctionsAgent(adapter.Model(), own))
	if _, err := chains.Run(t.Context(), agents.NewExecutor(agent, agents.WithMaxIterations(20)), "q"); err != nil {
		t.Fatal(err)
	}
	if ran {
		t.Error("the tool was reached")
	}
}

func TestApproverErrorEndsTheRun(t *testing.T) {
	boom := errors.New("boom")
	approve := func(context.Context, core.Ask) (core.Answer, error) { return "", boom }
	ran := false
	host := hostTool{"search", func(context.Context, string) (string, error) { ran = true; return "", nil }}
	adapter := install(t, playRuntime(t, satchel.WithApprover(approve)), script(reply("", call("1", "search", "{}"))), []tools.Tool{host})
	if _, err := chains.Run(t.Context(), executor(adapter), "q"); !errors.Is(err, boom) || ran {
		t.Errorf("error is %v, ran %v", err, ran)
	}
	if adapter.runs.live.Len() != 0 {
		t.Error("the run is left")
	}
}

// The answer to a load names what the agent's tools lose.
func TestLoadNamesTheAgentsTools(t *testing.T) {
	llm := script(reply("", call("1", "skill_load", `{"skill":"a"}`)), reply("done"))
	adapter := install(t, playRuntime(t), llm, []tools.Tool{hostTool{name: "read_file"}, hostTool{name: "left_1"}})
	if _, err := chains.Run(t.Context(), executor(adapter), "q"); err != nil {
		t.Fatal(err)
	}
	if text := whole(llm.last().messages); !strings.Contains(text, "tools allowed now: Bash(echo:*), left_*; not available until the user's next message: read_file\n") {
		t.Errorf("the model was told\n%s", text)
	}
}

// A list that outlives its skill leaves the call to the approver.
func TestListOfASkillThatIsGone(t *testing.T) {
	var asked []string
	approve := func(_ context.Context, ask core.Ask) (core.Answer, error) {
		asked = append(asked, ask.Reason)
		return core.AnswerAllow, nil
	}
	var got []string
	bash := hostTool{"bash", func(_ context.Context, input string) (string, error) {
		got = append(got, input)
		return "", nil
	}}
	llm := script(reply("", call("1", "skill_load", `{"skill":"a"}`)), reply("", call("1", "bash", `{"__arg1":"rm x"}`)),
		reply("", call("1", "skill_unload", `{"all":true}`)), reply("", call("1", "bash", `{"__arg1":"rm y"}`)), reply("done"))
	adapter := install(t, playRuntime(t, satchel.WithApprover(approve), satchel.WithPermissions(satchel.Permissions{HostTools: []permission.Tool{{Name: "bash", Takes: permission.Command}}})), llm, []tools.Tool{bash})
	if _, err := chains.Run(t.Context(), executor(adapter), "q"); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != "[rm y]" || len(asked) != 1 || !strings.Contains(asked[0], "allowed-tools of a, which was unloaded") {
		t.Errorf("reached %q, asked %q", got, asked)
	}
}
