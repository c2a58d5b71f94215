package satchel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
)

// listedSkills have lists of every kind; their names say which.
func listedSkills() fstest.MapFS {
	files := fstest.MapFS{}
	for name, head := range map[string]string{
		"echo":   "allowed-tools: Bash(echo:*) Read",
		"write":  "allowed-tools: [Write, search]",
		"none":   "allowed-tools: []",
		"free":   "license: MIT",
		"broken": "compatibility: a: b: c\nallowed-tools: search",
	} {
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: Has a list.\n" + head + "\n---\nBODY OF " + name + "\n")}
	}
	return files
}

// decide asks the gate about a call of the last response.
func (c *chat) decide(call core.ToolCall) core.Decision {
	c.t.Helper()
	d, err := c.runtime.Gate(c.ctx, c.key, call)
	if err != nil {
		c.t.Fatal(err)
	}
	return d
}

// gate lets the model make calls in one response, asks the gate about each, and
// executes what it allows. It returns "name" for what is allowed and "!name" for
// what is not.
func (c *chat) gate(calls ...string) []string {
	c.t.Helper()
	var out []string
	for _, call := range c.respond(calls...) {
		if d := c.decide(call); d.Denied {
			out = append(out, "!"+call.Name)
			c.runtime.Finished(c.key, call)
			c.messages = append(c.messages, core.Message{Role: core.ToolResult, CallID: call.ID, Tool: call.Name, Text: d.Reason})
			continue
		}
		out = append(out, call.Name)
		if c.runtime.Owns(call.Name) {
			c.execute(call)
		} else {
			c.messages = append(c.messages, core.Message{Role: core.ToolResult, CallID: call.ID, Tool: call.Name, Text: "done"})
		}
		c.runtime.Finished(c.key, call)
	}
	return out
}

func (c *chat) turn(text string) *chat {
	c.t.Helper()
	c.answer("done")
	return c.say(core.User, text)
}

func listedChat(t testing.TB, opts ...satchel.Option) *chat {
	return newChat(t, open(t, listedSkills(), opts...)).say(core.User, "hi")
}

const loadEcho = `skill_load {"skill":"echo"}`

func TestRestrictLastsAsLongAsItShould(t *testing.T) {
	for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Once, loadmode.Session} {
		t.Run(mode.String(), func(t *testing.T) {
			c := listedChat(t, satchel.WithLoadMode(mode), satchel.WithMaxLoaded(1))
			same(t, "before", c.gate("search {}", "read_file {}"), "search", "read_file")
			same(t, "in one message", c.gate("search {}", loadEcho, "search {}", "read_file {}", "skill_list_docs echo"),
				"search", "skill_load", "!search", "read_file", "skill_list_docs")
			same(t, "after", c.gate("search {}", "read_file {}"), "!search", "read_file")
			same(t, "unloaded", c.gate(`skill_unload {"all":true}`, "search {}"), "skill_unload", "!search")
			same(t, "another one in the place of it", c.gate(`skill_load {"skill":"free"}`, "search {}"), "skill_load", "!search")
			same(t, "evicted", c.gate(loadEcho, `skill_load {"skill":"free"}`, "search {}"), "skill_load", "skill_load", "!search")
			c.turn("next")
			same(t, "next turn", c.gate("search {}"), "search")

			same(t, "loaded again", c.gate(loadEcho, "search {}"), "skill_load", "!search")
			c.turn("and one more")
			want := "search"
			if mode == loadmode.Session {
				want = "!search"
			}
			same(t, "loaded in an earlier turn", c.gate("search {}"), want)
			if err := c.runtime.Clear(satchel.WithKey(c.ctx, c.key)); err != nil {
				t.Fatal(err)
			}
			same(t, "cleared by the host", c.gate("search {}"), want)
			c.turn("and another")
			same(t, "the turn after", c.gate("search {}"), "search")
		})
	}
}

func TestRestrictByKindOfList(t *testing.T) {
	for skill, want := range map[string][]string{
		"free":   {"search", "exit", "skill_read"},
		"none":   {"!search", "exit", "skill_read"},
		"write":  {"search", "exit", "skill_read"},
		"broken": {"search", "exit", "skill_read"},
		"echo":   {"!search", "exit", "skill_read"},
	} {
		t.Run(skill, func(t *testing.T) {
			c := listedChat(t)
			c.gate(fmt.Sprintf(`skill_load {"skill":%q}`, skill))
			same(t, "decisions", c.gate("search {}", "exit {}", `skill_read {"path":"SKILL.md"}`), want...)
		})
	}
}

// An edited list takes effect with the next load, and can only take away before
// the turn ends.
func TestEditedListCannotGrant(t *testing.T) {
	files := listedSkills()
	c := newChat(t, open(t, files, satchel.WithLoadMode(loadmode.Session))).say(core.User, "hi")
	edit := func(head string) {
		files["echo/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: echo\ndescription: Has a list.\n" + head + "\n---\nBODY\n"), ModTime: time.Now().Add(time.Hour)}
		if err := c.runtime.Refresh(c.ctx); err != nil {
			t.Fatal(err)
		}
	}
	c.gate(loadEcho)
	edit("allowed-tools: search")
	same(t, "not loaded yet", c.gate("search {}", "read_file {}"), "!search", "read_file")
	same(t, "loaded", c.gate(loadEcho, "search {}", "read_file {}"), "skill_load", "!search", "!read_file")
	c.turn("next")
	same(t, "next turn", c.gate("search {}", "read_file {}"), "search", "!read_file")
	edit("license: MIT")
	same(t, "without a list", c.gate(loadEcho, "search {}", "read_file {}"), "skill_load", "search", "!read_file")
	c.turn("next")
	same(t, "next turn without a list", c.gate("search {}", "read_file {}"), "search", "read_file")
}

// The list that holds is that of the text that is shown, whether the catalog was
// read again or not.
func TestListIsOfTheTextThatIsLoaded(t *testing.T) {
	files := listedSkills()
	c := newChat(t, open(t, files)).say(core.User, "hi")
	c.gate(loadEcho)
	c.turn("next")
	files["echo/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: echo\ndescription: Has a list.\nallowed-tools: Read\n---\nNEW BODY\n"), ModTime: time.Now().Add(time.Hour)}
	call := c.respond(loadEcho)[0]
	c.decide(call)
	if answer := c.execute(call); !strings.Contains(answer, "tools allowed now: Read; ") {
		t.Errorf("the answer to the load is %s", answer)
	}
	same(t, "loaded", c.gate("read_file {}", `skill_run {"skill":"echo","command":"echo x"}`), "read_file", "!skill_run")
}

func TestLoadNamesWhatItTakesAway(t *testing.T) {
	offered := []string{"search", "read_file", "skill_load", "skill_read", "exit"}
	view := func(c *chat) {
		t.Helper()
		if _, err := c.runtime.Prepare(c.ctx, core.Request{Key: c.key, Messages: c.messages, Tools: offered}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		call string
		opts []satchel.Option
		want string
	}{
		{loadEcho, nil, "loaded: echo\ntools allowed now: Bash(echo:*), Read; not available until the user's next message: search\n["},
		{loadEcho, []satchel.Option{satchel.WithLoadMode(loadmode.Session)}, "Read; not available while echo is loaded, and after an unload until the user's next message: search\n["},
		{`skill_load {"skill":"none"}`, nil, "allowed now: nothing but the tools that load, unload, select, list and read skills; not available until the user's next message: search, read_file\n["},
		{`skill_load {"skills":["echo","write"]}`, nil, "tools allowed now: Bash(echo:*), Read, Write, search\n["},
		{`skill_load {"skills":["echo","write"]}`, []satchel.Option{satchel.WithPolicy(permission.Restrict, permission.Intersection)},
			"tools allowed now: Bash(echo:*), Read; and also in: Write, search; not available until the user's next message: search, read_file\n["},
		{`skill_load {"skill":"free"}`, nil, "loaded: free\n["},
		{loadEcho, []satchel.Option{satchel.WithPolicy(permission.Preapprove)}, "loaded: echo\n["},
		{loadEcho, []satchel.Option{satchel.WithPolicy(permission.Off)}, "loaded: echo\n["},
	} {
		c := listedChat(t, append([]satchel.Option{satchel.WithTools("skill_load", "skill_read")}, tt.opts...)...)
		calls := c.respond(tt.call)
		view(c)
		if got := c.execute(calls[0]); !strings.Contains(got, tt.want) {
			t.Errorf("%s answers\n%s\nwant\n%s", tt.call, got, tt.want)
		}
		// The answer is constant: a resumed run gets the same.
		if again, err := c.runtime.CallTool(c.ctx, c.key, calls[0]); err != nil || again != c.messages[len(c.messages)-1].Text {
			t.Errorf("executed again, %s answers %s, %v", tt.call, again, err)
		}
	}
}

// The tools are the same whatever is loaded or denied.
func TestToolsAreConstantUnderLists(t *testing.T) {
	c := listedChat(t)
	before := fmt.Sprint(c.runtime.Tools())
	c.gate(`skill_load {"skill":"none"}`, "search {}", "skill_run {}")
	if after := fmt.Sprint(c.runtime.Tools()); after != before {
		t.Errorf("tools were\n%s\nand are\n%s", before, after)
	}
}

// What the host loads itself counts too.
func TestDeclaredLoadsRestrict(t *testing.T) {
	c := listedChat(t)
	c.ctx = satchel.WithLoads(c.ctx, satchel.Load{Skill: "echo"})
	same(t, "decisions", c.gate("search {}", "read_file {}"), "!search", "read_file")
}

// An agent's lists are its own.
func TestListsAreOfOneAgent(t *testing.T) {
	c := listedChat(t)
	c.gate(loadEcho)
	other := core.SessionKey{Session: c.key.Session, Agent: "other"}
	if d, err := c.runtime.Gate(c.ctx, other, core.ToolCall{Name: "search"}); err != nil || d.Denied {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestPolicies(t *testing.T) {
	for policy, want := range map[permission.Policy][]string{
		permission.Restrict: {"!search", "read_file"}, permission.Preapprove: {"search", "read_file"}, permission.Off: {"search", "read_file"},
	} {
		c := listedChat(t, satchel.WithPolicy(policy))
		c.gate(loadEcho)
		same(t, policy.String(), c.gate("search {}", "read_file {}"), want...)
	}
	for _, opt := range []satchel.Option{
		satchel.WithPolicy(9), satchel.WithPolicy(0, 9), satchel.WithPolicy(0, 0, 0), satchel.WithApprover(nil),
		satchel.WithToolNames(permission.Tool{}), satchel.WithToolNames(permission.Tool{Name: "x", Takes: 9}),
	} {
		if _, err := satchel.New(opt); !errors.Is(err, satchel.ErrOption) {
			t.Errorf("error is %v", err)
		}
	}
}

func TestToolNames(t *testing.T) {
	c := listedChat(t, satchel.WithToolNames(
		permission.Tool{Name: "container", As: []string{"Bash"}, Takes: permission.Command, Field: "script"},
		permission.Tool{Name: "finish", Always: true},
	))
	c.gate(loadEcho)
	same(t, "decisions", c.gate(`container {"script":"echo ok"}`, `container {"script":"rm x"}`, "finish {}", `bash {"command":"echo ok"}`, `bash {"command":"echo ok; id"}`),
		"container", "!container", "finish", "bash", "!bash")
	// What the tool really gets counts.
	given := satchel.WithInput(c.ctx, "rm x")
	if d, err := c.runtime.Gate(given, c.key, core.ToolCall{Name: "container", Arguments: `{"script":"echo ok"}`}); err != nil || !d.Denied {
		t.Errorf("%+v, %v", d, err)
	}
}

// The host's own gate comes first, and its consent is no grant.
func TestHostGateComesFirst(t *testing.T) {
	denies := func(_ context.Context, _ core.SessionKey, call core.ToolCall) core.Decision {
		return core.Decision{Denied: call.Name == "read_file", Reason: "not today"}
	}
	c := listedChat(t, satchel.WithGate(denies))
	c.gate(loadEcho)
	same(t, "decisions", c.gate("search {}", "read_file {}"), "!search", "!read_file")
	if text := c.messages[len(c.messages)-1].Text; text != "not today" {
		t.Errorf("reason is %q", text)
	}
}

func TestEveryDecisionIsAnEvent(t *testing.T) {
	var got []string
	hook := func(_ context.Context, e core.Event) {
		switch e.Kind {
		case core.ToolAllowed, core.ToolAsked, core.ToolDenied:
			detail, _, _ := strings.Cut(e.Detail, " is not")
			got = append(got, fmt.Sprintf("%s %s/%s %s %s %s: %s", e.Kind, e.Key.Session, e.Key.Agent, e.Call.Name, e.Skill, e.Rule, detail))
		}
	}
	approve := func(context.Context, core.Ask) (core.Answer, error) { return core.AnswerAllow, nil }
	c := listedChat(t, satchel.WithEventHook(hook), satchel.WithApprover(approve))
	c.gate("search {}", loadEcho, "read_file {}", "search {}")
	same(t, "events", got,
		"tool.asked chat/main search  : no list",
		"tool.allowed chat/main search  : approved",
		"tool.allowed chat/main skill_load  : always callable",
		"tool.allowed chat/main read_file echo Read: listed",
		"tool.denied chat/main search echo : denied: search",
	)
}

func TestGateEndsWithItsContextAndItsStore(t *testing.T) {
	c := listedChat(t)
	c.gate("search {}")
	ctx, cancel := context.WithCancel(c.ctx)
	cancel()
	calls := c.respond(loadEcho, "search {}")
	if _, err := c.runtime.Gate(ctx, c.key, calls[1]); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}
