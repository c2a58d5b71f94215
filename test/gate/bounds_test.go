package gate_test

import (
	"context"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/permission"
)

// An agent that is called is bounded by the lists of its caller as well as by its
// own, whatever runtime it has.
func TestCalledAgentsAreBounded(t *testing.T) {
	inside := func(t *testing.T, lead *satchel.Runtime, load string) context.Context {
		t.Helper()
		key := core.SessionKey{Session: "s", Agent: "lead"}
		if load != "" {
			if _, err := lead.CallTool(t.Context(), key, core.ToolCall{Name: "skill_load", Arguments: load}); err != nil {
				t.Fatal(err)
			}
		}
		call, err := lead.Agent(key).Open(t.Context(), core.ToolCall{Name: "helper", Arguments: "{}"})
		if err != nil {
			t.Fatal(err)
		}
		defer call.Close()
		if d, err := call.Gate(t.Context()); err != nil || d.Denied {
			t.Fatalf("%+v, %v", d, err)
		}
		ctx, err := call.Within(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return ctx
	}
	always := satchel.WithPermissions(satchel.Permissions{HostTools: []permission.Tool{{Name: "helper", Always: true}}})
	files := withLists(map[string]string{"a": "Read", "b": "Bash(echo:*)"})
	for name, tt := range map[string]struct {
		lead, helper []satchel.Option
		load, own    string
		want         string // outcomes of run_command, read_file, lookup_order and skill_run
	}{
		"nothing loaded":           {want: "yes yes yes yes"},
		"a list of the caller":     {load: "a", want: "no yes yes no"},
		"called by a control tool": {lead: []satchel.Option{always}, load: "a", want: "no yes yes no"},
		"lists of both":            {load: "a", own: "b", want: "no no yes no"},
		"everything restricted":    {lead: []satchel.Option{satchel.WithPermissions(satchel.Permissions{Policy: permission.RestrictAll}), always}, load: "a", want: "no yes no no"},
		"its own lists are off":    {helper: []satchel.Option{satchel.WithPermissions(satchel.Permissions{Policy: permission.Off})}, load: "a", want: "no yes yes no"},
		"lists preapprove":         {lead: []satchel.Option{satchel.WithPermissions(satchel.Permissions{Policy: permission.Preapprove})}, load: "a", want: "yes yes yes yes"},
	} {
		t.Run(name, func(t *testing.T) {
			lead, helper := chattest.Open(t, files, tt.lead...), chattest.Open(t, files, tt.helper...)
			ctx, key := inside(t, lead, tt.load), core.SessionKey{Session: "s", Agent: "helper"}
			if tt.own != "" {
				if _, err := helper.CallTool(ctx, key, core.ToolCall{Name: "skill_load", Arguments: tt.own}); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, call := range []core.ToolCall{
				{Name: "run_command", Arguments: "{}"}, {Name: "read_file", Arguments: "{}"}, {Name: "lookup_order", Arguments: "{}"},
				{Name: "skill_run", Arguments: `{"skill":"b","command":"echo x"}`},
			} {
				opened, err := helper.Agent(key).Open(ctx, call)
				if err != nil {
					t.Fatal(err)
				}
				d, err := opened.Gate(ctx)
				opened.Close()
				switch {
				case err != nil:
					t.Fatal(err)
				case !d.Denied:
					got = append(got, "yes")
				default:
					got = append(got, "no")
					if byCaller := strings.HasSuffix(d.Reason, "These lists are of the agent that called you."); byCaller != (tt.own == "" || call.Name == "skill_run") {
						t.Errorf("%s: %s", call.Name, d.Reason)
					}
				}
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("%s, want %s", text, tt.want)
			}
		})
	}
}

// An agent that receives a run from another one is bounded by its own lists and by those of all
// agents that had the run before. That holds however often the run goes back and forth. The
// agents share neither a session nor a runtime.
func TestTransfersAreBounded(t *testing.T) {
	files := withLists(map[string]string{"a": "Read", "b": "Bash(echo:*)"})
	one, other := chattest.Open(t, files), chattest.Open(t, files)
	legs := map[string]*satchel.Runtime{"lead": one, "helper": other, "third": one}
	ctx := satchel.BeginTurn(t.Context(), "")
	called := func(agent string, loads []string, name, arguments string) bool {
		t.Helper()
		rt := legs[agent]
		key := rt.Hooks().Anonymous(agent)
		if _, err := rt.Prepare(ctx, core.Request{Key: key, Messages: []core.Message{{Role: core.User, Text: "go"}}}); err != nil {
			t.Fatal(err)
		}
		for _, load := range loads {
			if _, err := rt.CallTool(ctx, key, core.ToolCall{Name: "skill_load", Arguments: load}); err != nil {
				t.Fatal(err)
			}
		}
		call, err := rt.Agent(key).Open(ctx, core.ToolCall{Name: name, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		defer call.Close()
		d, err := call.Gate(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !d.Denied {
			if _, err := call.Within(ctx); err != nil {
				t.Fatal(err)
			}
		}
		return !d.Denied
	}
	hand := func(from, to string, loads ...string) {
		t.Helper()
		if !called(from, loads, "transfer_to_agent", `{"agent_name":"`+to+`"}`) {
			t.Fatalf("%s could not hand over to %s", from, to)
		}
	}
	check := func(agent string, run, read bool, loads ...string) {
		t.Helper()
		if got := called(agent, loads, "run_command", "{}"); got != run {
			t.Errorf("%s: run_command allowed: %t, want %t", agent, got, run)
		}
		if got := called(agent, loads, "read_file", "{}"); got != read {
			t.Errorf("%s: read_file allowed: %t, want %t", agent, got, read)
		}
	}
	check("helper", true, true)
	hand("lead", "helper", "a")
	check("helper", false, true)
	for range 40 { // repeated transfers must not make the stored state grow
		hand("helper", "lead", "b")
		hand("lead", "helper", "a")
	}
	hand("helper", "third")
	check("third", false, true)
	hand("third", "lead", "b")
	check("lead", false, false, "a")
	hand("lead", "third", "a")
	check("third", false, true, "a")
	hand("lead", "helper")
	check("helper", false, false, "a")
	ctx = satchel.BeginTurn(t.Context(), "")
	check("helper", true, true)
	ctx = t.Context()
	hand("lead", "helper", "a") // without a session or a turn, the runtime knows nothing of the transfer
	check("helper", true, true)
}

// Where one context of a session serves several turns, lists that were handed over hold
// in their own turn only, whichever agent begins the next one.
func TestTransfersEndWithTheTurn(t *testing.T) {
	rt := chattest.Open(t, withLists(map[string]string{"a": "Read", "b": "Bash(echo:*)"}))
	ctx := satchel.WithSession(t.Context(), "s")
	talk := map[string][]core.Message{}
	prepare := func(agent, text string) core.SessionKey {
		t.Helper()
		key := core.SessionKey{Session: "s", Agent: agent}
		talk[agent] = append(talk[agent], core.Message{Role: core.User, Text: text})
		if _, err := rt.Prepare(ctx, core.Request{Key: key, Messages: talk[agent]}); err != nil {
			t.Fatal(err)
		}
		talk[agent] = append(talk[agent], core.Message{Role: core.Assistant, Text: "done"})
		return key
	}
	hand := func(from core.SessionKey, load, to string) {
		t.Helper()
		if _, err := rt.CallTool(ctx, from, core.ToolCall{Name: "skill_load", Arguments: load}); err != nil {
			t.Fatal(err)
		}
		call, err := rt.Agent(from).Open(ctx, core.ToolCall{Name: "transfer_to_agent", Arguments: `{"agent_name":"` + to + `"}`})
		if err != nil {
			t.Fatal(err)
		}
		defer call.Close()
		if _, err := call.Within(ctx); err != nil {
			t.Fatal(err)
		}
	}
	check := func(key core.SessionKey, runs bool) {
		t.Helper()
		call, err := rt.Agent(key).Open(ctx, core.ToolCall{Name: "run_command", Arguments: "{}"})
		if err != nil {
			t.Fatal(err)
		}
		defer call.Close()
		if d, err := call.Gate(ctx); err != nil || d.Denied == runs {
			t.Errorf("%s may run a command: %t, %v, want %t", key.Agent, !d.Denied, err, runs)
		}
	}
	lead := prepare("lead", "first")
	hand(lead, "a", "helper")
	helper := prepare("helper", "first")
	check(helper, false)
	hand(helper, "b", "lead")

	lead = prepare("lead", "second")
	check(lead, true)
	check(prepare("helper", "second"), true)
	hand(lead, "a", "helper")
	check(helper, false)
	check(prepare("helper", "third"), true)
}
