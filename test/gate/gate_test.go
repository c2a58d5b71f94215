package gate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
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

func listedChat(t testing.TB, opts ...satchel.Option) *chattest.Chat {
	return chattest.NewChat(t, chattest.Open(t, listedSkills(), opts...)).Say(core.User, "hi")
}

const loadEcho = `skill_load {"skill":"echo"}`

func TestRestrictLastsAsLongAsItShould(t *testing.T) {
	for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Once, loadmode.Session} {
		t.Run(mode.String(), func(t *testing.T) {
			c := listedChat(t, satchel.WithLoading(satchel.Loading{Mode: mode, Max: 1}))
			chattest.Same(t, "before", c.Gate("search {}", "read_file {}"), "search", "read_file")
			chattest.Same(t, "in one message", c.Gate("search {}", loadEcho, "search {}", "read_file {}", "skill_list_docs echo"),
				"search", "skill_load", "!search", "read_file", "skill_list_docs")
			chattest.Same(t, "after", c.Gate("search {}", "read_file {}"), "!search", "read_file")
			chattest.Same(t, "unloaded", c.Gate(`skill_unload {"all":true}`, "search {}"), "skill_unload", "!search")
			chattest.Same(t, "another one in the place of it", c.Gate(`skill_load {"skill":"free"}`, "search {}"), "skill_load", "!search")
			chattest.Same(t, "evicted", c.Gate(loadEcho, `skill_load {"skill":"free"}`, "search {}"), "skill_load", "skill_load", "!search")
			c.Turn("next")
			chattest.Same(t, "next turn", c.Gate("search {}"), "search")

			chattest.Same(t, "loaded again", c.Gate(loadEcho, "search {}"), "skill_load", "!search")
			c.Turn("and one more")
			want := "search"
			if mode == loadmode.Session {
				want = "!search"
			}
			chattest.Same(t, "loaded in an earlier turn", c.Gate("search {}"), want)
			if err := c.Runtime.Clear(adapter.WithKey(c.Context, c.Key)); err != nil {
				t.Fatal(err)
			}
			chattest.Same(t, "cleared by the host", c.Gate("search {}"), want)
			c.Turn("and another")
			chattest.Same(t, "the turn after", c.Gate("search {}"), "search")
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
			c.Gate(fmt.Sprintf(`skill_load {"skill":%q}`, skill))
			chattest.Same(t, "decisions", c.Gate("search {}", "exit {}", `skill_read {"path":"SKILL.md"}`), want...)
		})
	}
}

// An edited list takes effect with the next load, and can only take away before
// the turn ends.
func TestEditedListCannotGrant(t *testing.T) {
	files := listedSkills()
	c := chattest.NewChat(t, chattest.Open(t, files, satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))).Say(core.User, "hi")
	edit := func(head string) {
		files["echo/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: echo\ndescription: Has a list.\n" + head + "\n---\nBODY\n"), ModTime: time.Now().Add(time.Hour)}
		if err := c.Runtime.Refresh(c.Context); err != nil {
			t.Fatal(err)
		}
	}
	c.Gate(loadEcho)
	edit("allowed-tools: search")
	chattest.Same(t, "not loaded yet", c.Gate("search {}", "read_file {}"), "!search", "read_file")
	chattest.Same(t, "loaded", c.Gate(loadEcho, "search {}", "read_file {}"), "skill_load", "!search", "!read_file")
	c.Turn("next")
	chattest.Same(t, "next turn", c.Gate("search {}", "read_file {}"), "search", "!read_file")
	edit("license: MIT")
	chattest.Same(t, "without a list", c.Gate(loadEcho, "search {}", "read_file {}"), "skill_load", "search", "!read_file")
	c.Turn("next")
	chattest.Same(t, "next turn without a list", c.Gate("search {}", "read_file {}"), "search", "read_file")
}

// The list that holds is that of the text that is shown, whether the catalog was
// read again or not.
func TestListIsOfTheTextThatIsLoaded(t *testing.T) {
	files := listedSkills()
	c := chattest.NewChat(t, chattest.Open(t, files)).Say(core.User, "hi")
	c.Gate(loadEcho)
	c.Turn("next")
	files["echo/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: echo\ndescription: Has a list.\nallowed-tools: Read\n---\nNEW BODY\n"), ModTime: time.Now().Add(time.Hour)}
	call := c.Respond(loadEcho)[0]
	c.Decide(call)
	if answer := c.Execute(call); !strings.Contains(answer, "tools allowed now: Read; ") {
		t.Errorf("the answer to the load is %s", answer)
	}
	chattest.Same(t, "loaded", c.Gate("read_file {}", `skill_run {"skill":"echo","command":"echo x"}`), "read_file", "!skill_run")
}

func TestLoadNamesWhatItTakesAway(t *testing.T) {
	offered := []string{"search", "read_file", "skill_load", "skill_read", "exit"}
	view := func(c *chattest.Chat) {
		t.Helper()
		if _, err := c.Runtime.Prepare(c.Context, core.Request{Key: c.Key, Messages: c.Messages, Tools: offered}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		call string
		opts []satchel.Option
		want string
	}{
		{loadEcho, nil, "loaded: echo\ntools allowed now: Bash(echo:*), Read; not available until the user's next message: search\nlisted, but you have no such tool: Bash\n["},
		{loadEcho, []satchel.Option{satchel.WithLoading(satchel.Loading{Mode: loadmode.Session})}, "Read; not available while echo is loaded, and after an unload until the user's next message: search\nlisted, but you have no such tool: Bash\n["},
		{`skill_load {"skill":"none"}`, nil, "allowed now: none of the tools that lists speak of; not available until the user's next message: search, read_file\n["},
		{`skill_load {"skills":["echo","write"]}`, nil, "tools allowed now: Bash(echo:*), Read, Write, search\nlisted, but you have no such tool: Bash, Write\n["},
		{`skill_load {"skills":["echo","write"]}`, []satchel.Option{satchel.WithPermissions(satchel.Permissions{Policy: permission.Restrict, Combine: permission.Intersection})},
			"tools allowed now: Bash(echo:*), Read; and also in: Write, search; not available until the user's next message: search, read_file\nlisted, but you have no such tool: Bash, Write\n["},
		{`skill_load {"skill":"free"}`, nil, "loaded: free\n["},
		{loadEcho, []satchel.Option{satchel.WithPermissions(satchel.Permissions{Policy: permission.Preapprove})}, "loaded: echo\n["},
		{loadEcho, []satchel.Option{satchel.WithPermissions(satchel.Permissions{Policy: permission.Off})}, "loaded: echo\n["},
	} {
		c := listedChat(t, append([]satchel.Option{satchel.WithTools(satchel.Tools{Names: []string{"skill_load", "skill_read"}})}, tt.opts...)...)
		calls := c.Respond(tt.call)
		view(c)
		if got := c.Execute(calls[0]); !strings.Contains(got, tt.want) {
			t.Errorf("%s answers\n%s\nwant\n%s", tt.call, got, tt.want)
		}
		// The answer is constant, so a resumed run gets the same one.
		if again, err := c.Runtime.CallTool(c.Context, c.Key, calls[0]); err != nil || again != c.Messages[len(c.Messages)-1].Text {
			t.Errorf("executed again, %s answers %s, %v", tt.call, again, err)
		}
	}
}

// The tools are the same whatever is loaded or denied.
func TestToolsAreConstantUnderLists(t *testing.T) {
	c := listedChat(t)
	before := fmt.Sprint(c.Runtime.Tools())
	c.Gate(`skill_load {"skill":"none"}`, "search {}", "skill_run {}")
	if after := fmt.Sprint(c.Runtime.Tools()); after != before {
		t.Errorf("tools were\n%s\nand are\n%s", before, after)
	}
}

// What the host loads itself counts too.
func TestDeclaredLoadsRestrict(t *testing.T) {
	c := listedChat(t)
	c.Context = satchel.WithLoads(c.Context, satchel.Load{Skill: "echo"})
	chattest.Same(t, "decisions", c.Gate("search {}", "read_file {}"), "!search", "read_file")
}

// An agent's lists are its own.
func TestListsAreOfOneAgent(t *testing.T) {
	c := listedChat(t)
	c.Gate(loadEcho)
	other := core.SessionKey{Session: c.Key.Session, Agent: "other"}
	if d, err := c.Judge(c.Context, other, core.ToolCall{Name: "search"}); err != nil || d.Denied {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestPolicies(t *testing.T) {
	for policy, want := range map[permission.Policy][]string{
		permission.Restrict: {"!search", "read_file"}, permission.Preapprove: {"search", "read_file"}, permission.Off: {"search", "read_file"},
	} {
		c := listedChat(t, satchel.WithPermissions(satchel.Permissions{Policy: policy}))
		c.Gate(loadEcho)
		chattest.Same(t, policy.String(), c.Gate("search {}", "read_file {}"), want...)
	}
	for _, opt := range []satchel.Option{
		satchel.WithPermissions(satchel.Permissions{Policy: 9, Combine: 9, HostTools: []permission.Tool{{}}}), satchel.WithApprover(nil),
	} {
		if _, err := satchel.New(opt); !errors.Is(err, satchel.ErrOption) {
			t.Errorf("error is %v", err)
		}
	}
}

func TestToolNames(t *testing.T) {
	c := listedChat(t, satchel.WithPermissions(satchel.Permissions{HostTools: []permission.Tool{{Name: "container", As: []string{"Bash"}, Takes: permission.Command, Field: "script"},
		{Name: "finish", Always: true}}}))
	c.Gate(loadEcho)
	chattest.Same(t, "decisions", c.Gate(`container {"script":"echo ok"}`, `container {"script":"rm x"}`, "finish {}", `bash {"command":"echo ok"}`, `bash {"command":"echo ok; id"}`),
		"container", "!container", "finish", "bash", "!bash")
	// The gate judges the input that the tool really gets.
	given := adapter.WithInput(c.Context, "rm x")
	if d, err := c.Judge(given, c.Key, core.ToolCall{Name: "container", Arguments: `{"script":"echo ok"}`}); err != nil || !d.Denied {
		t.Errorf("%+v, %v", d, err)
	}
}

// The host's own gate comes first, and its consent is no grant.
func TestHostGateComesFirst(t *testing.T) {
	denies := func(_ context.Context, _ core.SessionKey, call core.ToolCall) core.Decision {
		return core.Decision{Denied: call.Name == "read_file", Reason: "not today"}
	}
	c := listedChat(t, satchel.WithGate(denies))
	c.Gate(loadEcho)
	chattest.Same(t, "decisions", c.Gate("search {}", "read_file {}"), "!search", "!read_file")
	if text := c.Messages[len(c.Messages)-1].Text; text != "not today" {
		t.Errorf("reason is %q", text)
	}
}

func TestEveryDecisionIsAnEvent(t *testing.T) {
	var got []string
	report := func(_ context.Context, e core.Event) {
		switch e.Kind {
		case core.ToolAllowed, core.ToolAsked, core.ToolDenied:
			detail, _, _ := strings.Cut(e.Detail, " is not")
			got = append(got, fmt.Sprintf("%s %s/%s %s %s %s: %s", e.Kind, e.Key.Session, e.Key.Agent, e.Call.Name, e.Skill, e.Rule, detail))
		}
	}
	approve := func(context.Context, core.Ask) (core.Answer, error) { return core.AnswerAllow, nil }
	c := listedChat(t, satchel.WithEvents(report), satchel.WithApprover(approve))
	c.Gate("search {}", loadEcho, "read_file {}", "search {}")
	chattest.Same(t, "events", got,
		"tool.asked chat/main search  : no list",
		"tool.allowed chat/main search  : approved",
		"tool.allowed chat/main skill_load  : always callable",
		"tool.allowed chat/main read_file echo Read: listed",
		"tool.denied chat/main search echo : denied: search",
	)
}

func TestGateEndsWithItsContextAndItsStore(t *testing.T) {
	c := listedChat(t)
	c.Gate("search {}")
	ctx, cancel := context.WithCancel(c.Context)
	cancel()
	calls := c.Respond(loadEcho, "search {}")
	if _, err := c.Judge(ctx, c.Key, calls[1]); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}
