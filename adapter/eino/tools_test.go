package eino_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/tools"
)

func TestToolSchemasArriveUnchanged(t *testing.T) {
	for _, profile := range []tools.Profile{tools.Full, tools.KnowledgeOnly} {
		rt := newRuntime(t, satchel.WithTools(satchel.Tools{Profile: profile}))
		a, err := eino.New(rt)
		if err != nil {
			t.Fatal(err)
		}
		got := a.Tools()
		if len(got) != len(rt.Tools()) || len(got) == 0 {
			t.Fatalf("there are %d tools, want the runtime's %d", len(got), len(rt.Tools()))
		}
		for i, want := range rt.Tools() {
			t.Run(want.Name, func(t *testing.T) {
				info, err := got[i].Info(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if info.Name != want.Name || info.Desc != want.Description {
					t.Errorf("tool is %q (%q), want %q (%q)", info.Name, info.Desc, want.Name, want.Description)
				}
				s, err := info.ParamsOneOf.ToJSONSchema()
				if err != nil {
					t.Fatal(err)
				}
				sent, err := json.Marshal(s)
				if err != nil {
					t.Fatal(err)
				}
				var a, b any
				if err := json.Unmarshal(sent, &a); err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(want.Schema, &b); err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(a, b) {
					t.Errorf("schema arrives as\n%s\nwant\n%s", sent, want.Schema)
				}
				for range 20 {
					if again, err := json.Marshal(s); err != nil || string(again) != string(sent) {
						t.Fatalf("schema is rendered as %s, then as %s (%v)", sent, again, err)
					}
				}
			})
		}
	}
}

func TestToolInfoIsACopy(t *testing.T) {
	a, err := eino.New(newRuntime(t))
	if err != nil {
		t.Fatal(err)
	}
	first, _ := a.Tools()[0].Info(t.Context())
	first.Name = "changed"
	if second, _ := a.Tools()[0].Info(t.Context()); second.Name == "changed" {
		t.Error("a host can change the tool's definition")
	}
}

// infos are the definitions of tools.
func infos(t *testing.T, list ...tool.BaseTool) []*schema.ToolInfo {
	t.Helper()
	var out []*schema.ToolInfo
	for _, tl := range list {
		info, err := tl.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, info)
	}
	return out
}

// withoutSkills returns a runtime with tools whose next sessions see no skill, because all were
// removed.
func withoutSkills(t *testing.T) *satchel.Runtime {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, skillFS()); err != nil {
		t.Fatal(err)
	}
	rt, err := satchel.New(satchel.WithSkillDirs(dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rt.Close() })
	for _, name := range []string{"pdf", "csv"} {
		if err := os.RemoveAll(dir + "/" + name); err != nil {
			t.Fatal(err)
		}
	}
	if err := rt.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return rt
}

func TestToolsAreWithdrawnFromASessionWithoutSkills(t *testing.T) {
	for name, rt := range map[string]*satchel.Runtime{"skills": newRuntime(t), "no skills": withoutSkills(t)} {
		for _, asOption := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				both(t, func(t *testing.T, streaming bool) {
					a, err := eino.New(rt)
					if err != nil {
						t.Fatal(err)
					}
					m := script(say("done"))
					wrapped, err := a.Model(m)
					if err != nil {
						t.Fatal(err)
					}
					offer := append(infos(t, &hostTool{name: "look"}), infos(t, a.Tools()...)...)
					var bound model.ToolCallingChatModel = wrapped
					opts := make([]model.Option, 1, 4)
					opts[0] = model.WithTemperature(0.5)
					if asOption {
						opts = append(opts, model.WithTools(offer))
					} else if bound, err = wrapped.WithTools(offer); err != nil {
						t.Fatal(err)
					}
					before := slices.Clone(offer)
					ask(t, satchel.WithSession(t.Context(), t.Name()), bound, streaming, opts...)
					want := 1
					if name == "skills" {
						want = len(offer)
					}
					if got := m.offered[0]; len(got) != want || got[0] != "look" {
						t.Errorf("model is offered %v, want %d tools", got, want)
					}
					if !reflect.DeepEqual(before, offer) {
						t.Error("the host's list of tools was changed")
					}
					if extra := opts[:4][len(opts)]; !reflect.ValueOf(extra).IsZero() {
						t.Error("the spare room of the host's options was used")
					}
				})
			})
		}
	}
}

// ask calls a model once and reads its answer to the end.
func ask(t *testing.T, ctx context.Context, m model.BaseChatModel, streaming bool, opts ...model.Option) *schema.Message {
	t.Helper()
	in := []*schema.Message{schema.UserMessage("q")}
	if !streaming {
		out, err := m.Generate(ctx, in, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	stream, err := m.Stream(ctx, in, opts...)
	if err != nil {
		t.Fatal(err)
	}
	out, err := schema.ConcatMessageStream(stream)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestToolsOptionReplacesBoundTools(t *testing.T) {
	a, err := eino.New(newRuntime(t))
	if err != nil {
		t.Fatal(err)
	}
	m := script(say("one"), say("two"))
	wrapped, err := a.Model(m)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := wrapped.WithTools(infos(t, a.Tools()...))
	if err != nil {
		t.Fatal(err)
	}
	if reflect.TypeOf(bound) != reflect.TypeOf(wrapped) {
		t.Fatalf("WithTools returned a %T, want a wrapped model", bound)
	}
	ctx := satchel.WithSession(t.Context(), "s")
	ask(t, ctx, bound, false, model.WithTools(infos(t, &hostTool{name: "look"})))
	if got := m.offered[0]; !slices.Equal(got, []string{"look"}) {
		t.Errorf("model is offered %v, want what the option says", got)
	}
	ask(t, ctx, wrapped, false)
	if got := m.offered[1]; len(got) != 0 {
		t.Errorf("the model that WithTools was called on is offered %v", got)
	}
}

func TestToolsSurviveRefreshInARun(t *testing.T) {
	m := script(loading("1", "pdf"), say("done"))
	cfg := &adk.ChatModelAgentConfig{Model: m, ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{
		Tools: []tool.BaseTool{&hostTool{name: "look"}}}}}
	rt := newRuntime(t)
	install(t, cfg, rt)
	noErrors(t, run(t, newAgent(t, cfg), "s", false, schema.UserMessage("q")))
	if !slices.Equal(m.offered[0], m.offered[1]) || m.offered[0][0] != "look" || len(m.offered[0]) != 1+len(rt.Tools()) {
		t.Errorf("offered %v, then %v", m.offered[0], m.offered[1])
	}
}

// unbound is a model that has no WithTools: it takes tools as an option only.
type unbound struct{ model.BaseChatModel }

func TestModelWithoutWithTools(t *testing.T) {
	for name, rt := range map[string]*satchel.Runtime{"skills": newRuntime(t), "no skills": withoutSkills(t)} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, streaming bool) {
				a, err := eino.New(rt)
				if err != nil {
					t.Fatal(err)
				}
				m := script(say("one"), say("two"), say("three"))
				wrapped, err := a.Model(unbound{m})
				if err != nil {
					t.Fatal(err)
				}
				bound, err := wrapped.WithTools(append(infos(t, &hostTool{name: "look"}), infos(t, a.Tools()...)...))
				if err != nil {
					t.Fatal(err)
				}
				ctx := satchel.WithSession(t.Context(), t.Name())
				ask(t, ctx, bound, streaming)
				ask(t, ctx, bound, streaming, model.WithTools(infos(t, &hostTool{name: "see"})))
				ask(t, ctx, wrapped, streaming)
				want := []int{1 + len(a.Tools()), 1, 0}
				if name == "no skills" {
					want[0] = 1
				}
				for i, offered := range m.offered {
					if len(offered) != want[i] {
						t.Errorf("call %d is offered %v, want %d tools", i, offered, want[i])
					}
				}
				if m.offered[0][0] != "look" || m.offered[1][0] != "see" {
					t.Errorf("model is offered %v", m.offered)
				}
			})
		})
	}
}

// Later versions of adk give each call its tools as an option.
func TestToolNameTwiceInAnOption(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		a, err := eino.New(newRuntime(t))
		if err != nil {
			t.Fatal(err)
		}
		m := script(say("done"))
		wrapped, err := a.Model(m)
		if err != nil {
			t.Fatal(err)
		}
		twice := model.WithTools(infos(t, &hostTool{name: "skill_load"}, &hostTool{name: "look"}, &hostTool{name: "look"}, &hostTool{name: "skill_load"}))
		ctx := satchel.WithSession(t.Context(), "s")
		if streaming {
			_, err = wrapped.Stream(ctx, []*schema.Message{schema.UserMessage("q")}, twice)
		} else {
			_, err = wrapped.Generate(ctx, []*schema.Message{schema.UserMessage("q")}, twice)
		}
		if !errors.Is(err, eino.ErrToolName) || m.calls() != 0 {
			t.Errorf("got %v after %d calls, want %v", err, m.calls(), eino.ErrToolName)
		}
	})
}
