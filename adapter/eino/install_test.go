package eino_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
)

func TestInstallLeavesTheConfigurationAlone(t *testing.T) {
	tools := append(make([]tool.BaseTool, 0, 8), &hostTool{name: "look"})
	middlewares := make([]compose.ToolMiddleware, 1, 8)
	cfg := func(name string) *adk.ChatModelAgentConfig {
		return &adk.ChatModelAgentConfig{Name: name, Model: script(), Instruction: "i", MaxIterations: 7,
			ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: tools, ToolCallMiddlewares: middlewares}}}
	}
	a, b := cfg("a"), cfg("b")
	install(t, a, newRuntime(t))
	install(t, b, newRuntime(t))
	if tools[:2][1] != nil {
		t.Error("the spare room of the host's tools was used")
	}
	if middlewares[:2][1].Invokable != nil {
		t.Error("the spare room of the host's middlewares was used")
	}
	if n := len(a.ToolsConfig.Tools); cap(a.ToolsConfig.Tools) != n || n < 2 {
		t.Errorf("tools have length %d and capacity %d, want no room to append into", n, cap(a.ToolsConfig.Tools))
	}
	if a.MaxIterations != 7 || a.Instruction != "i" || len(a.Middlewares) != 0 || a.ModelRetryConfig != nil {
		t.Errorf("configuration was changed: %+v", a)
	}
	if a.ToolsConfig.UnknownToolsHandler == nil {
		t.Error("no unknown-tools handler: Eino ends the run at a call of a tool that does not exist")
	}
}

func TestInstallErrors(t *testing.T) {
	rt := newRuntime(t)
	installed := &adk.ChatModelAgentConfig{Name: "a", Model: script()}
	install(t, installed, rt)
	again := *installed
	again.Model = script() // its tools still show that it was installed
	for _, tc := range []struct {
		name string
		cfg  *adk.ChatModelAgentConfig
		rt   *satchel.Runtime
		want error
	}{
		{"no configuration", nil, rt, eino.ErrNoConfig},
		{"no runtime", &adk.ChatModelAgentConfig{Model: script()}, nil, eino.ErrNoRuntime},
		{"no model", &adk.ChatModelAgentConfig{}, rt, eino.ErrNoModel},
		{"twice", installed, rt, eino.ErrInstalled},
		{"tools twice", &again, rt, eino.ErrInstalled},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var before adk.ChatModelAgentConfig
			if tc.cfg != nil {
				before = *tc.cfg
			}
			if _, err := eino.Install(tc.cfg, tc.rt); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			if tc.cfg != nil && (tc.cfg.Model != before.Model || len(tc.cfg.ToolsConfig.Tools) != len(before.ToolsConfig.Tools) ||
				len(tc.cfg.ToolsConfig.ToolCallMiddlewares) != len(before.ToolsConfig.ToolCallMiddlewares)) {
				t.Error("a failed install changed the configuration")
			}
		})
	}
}

func TestHostToolWithASkillToolsName(t *testing.T) {
	cfg := &adk.ChatModelAgentConfig{Model: script(), ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{
		Tools: []tool.BaseTool{&hostTool{name: "skill_load"}}}}}
	install(t, cfg, newRuntime(t))
	events := run(t, newAgent(t, cfg), "s", false, schema.UserMessage("q"))
	if len(events) != 1 || !errors.Is(events[0].Err, eino.ErrToolName) {
		t.Fatalf("got %v, want %v", events, eino.ErrToolName)
	}
}

func TestNoBlankSystemMessage(t *testing.T) {
	m := script(say("done"))
	cfg := &adk.ChatModelAgentConfig{Model: m}
	install(t, cfg, newRuntime(t))
	noErrors(t, run(t, newAgent(t, cfg), "s", false, schema.UserMessage("q")))
	for i, msg := range m.request(t, 0) {
		if strings.TrimSpace(text(msg)) == "" {
			t.Errorf("message %d is blank", i)
		}
	}
}

func TestEmptyCatalog(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		m := script(calling(call("1", "look", "{}")), say("done"))
		cfg := &adk.ChatModelAgentConfig{Model: m, Instruction: "Work.",
			ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{&hostTool{name: "look"}}}}}
		install(t, cfg, emptyRuntime(t))
		noErrors(t, run(t, newAgent(t, cfg), "s", streaming, schema.UserMessage("q")))
		if got, want := allText(m.request(t, 1)), "system: Work.\nuser: q\nassistant: \ntool: ran look\n"; got != want {
			t.Errorf("request is\n%swant\n%s", got, want)
		}
		if got := m.offered[1]; !reflect.DeepEqual(got, []string{"look"}) {
			t.Errorf("model is offered %v, want look", got)
		}
	})
}

func TestEmptyCatalogWithoutTools(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		m := script(say("done"))
		cfg := &adk.ChatModelAgentConfig{Model: m}
		install(t, cfg, emptyRuntime(t))
		events := run(t, newAgent(t, cfg), "", streaming, schema.UserMessage("q"))
		noErrors(t, events)
		if got := said(events); !reflect.DeepEqual(got, []string{"assistant: done"}) {
			t.Errorf("agent said %q, want one answer", got)
		}
		if got := allText(m.request(t, 0)); got != "user: q\n" {
			t.Errorf("request is %q", got)
		}
		if m.bindings[0] != 0 || len(m.offered[0]) != 0 {
			t.Errorf("the model has %d tools bound and is offered %q", m.bindings[0], m.offered[0])
		}
	})
}

// Skills that come after the agent was built reach the sessions that begin then.
func TestFirstSkillComesLater(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		files := fstest.MapFS{"empty": {}}
		rt, err := satchel.New(satchel.WithSkillFS("test", files))
		if err != nil {
			t.Fatal(err)
		}
		m := script(say("one"), say("two"), loading("1", "pdf"), say("three"))
		cfg := &adk.ChatModelAgentConfig{Model: m}
		install(t, cfg, rt)
		agent := newAgent(t, cfg)
		noErrors(t, run(t, agent, "old", streaming, schema.UserMessage("q")))
		files["pdf/SKILL.md"] = skillFS()["pdf/SKILL.md"]
		if err := rt.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		noErrors(t, run(t, agent, "old", streaming, schema.UserMessage("q"), say("one"), schema.UserMessage("q2")))
		noErrors(t, run(t, agent, "new", streaming, schema.UserMessage("q")))
		for i, offered := range m.offered {
			if (len(offered) > 0) != (i > 1) || (shows(m.request(t, i), "<available_skills>") == 1) != (i > 1) {
				t.Errorf("call %d is offered %q:\n%s", i, offered, allText(m.request(t, i)))
			}
		}
		if shows(m.request(t, 3), pdfBody) != 1 {
			t.Errorf("the skill is not loaded:\n%s", allText(m.request(t, 3)))
		}
	})
}
