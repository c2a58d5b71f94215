package gate_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/judging"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/skillmd"
)

// withLists are skills by name with the text of their lists, "-" for none.
func withLists(lists map[string]string) fstest.MapFS {
	files := fstest.MapFS{}
	for name, list := range lists {
		head := ""
		if list != "-" {
			head = "allowed-tools: " + list + "\n"
		}
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: Does it.\n" + head + "---\nBODY\n")}
	}
	return files
}

// Loading a skill with a list takes no tool of the host away that no list speaks
// of.
func TestWhatListsGovern(t *testing.T) {
	files := withLists(map[string]string{"a": "Bash(echo:*) Read", "b": "lookup_stock mcp__db", "c": "-"})
	calls := []string{"lookup_order {}", "lookup_stock {}", "mcp__db__query {}", "runCommand {}", "python_repl {}", "Grep {}", "read_file {}", "fetch {}", "skill_update {}", "updateSkill {}", "exit {}"}
	for policy, want := range map[permission.Policy][]string{
		permission.Restrict:    {"lookup_order", "!lookup_stock", "!mcp__db__query", "!runCommand", "!python_repl", "!Grep", "read_file", "!fetch", "!skill_update", "!updateSkill", "exit"},
		permission.RestrictAll: {"!lookup_order", "!lookup_stock", "!mcp__db__query", "!runCommand", "!python_repl", "!Grep", "read_file", "!fetch", "!skill_update", "!updateSkill", "exit"},
		permission.Preapprove:  {"lookup_order", "lookup_stock", "mcp__db__query", "runCommand", "python_repl", "Grep", "read_file", "fetch", "skill_update", "updateSkill", "exit"},
	} {
		c := chattest.NewChat(t, chattest.Open(t, files, satchel.WithPermissions(satchel.Permissions{Policy: policy}))).Say(core.User, "hi")
		c.Gate(`skill_load {"skill":"a"}`)
		chattest.Same(t, policy.String(), c.Gate(calls...), want...)
	}
}

// A run is judged by the list of its own skill. One of a skill without a list,
// beside one with a list, is a question.
func TestRunsAreJudgedByTheirSkill(t *testing.T) {
	files := withLists(map[string]string{"git": "Bash(git:*)", "all": "Bash", "free": "-"})
	run := func(skill, command string) string {
		return fmt.Sprintf(`skill_run {"skill":%q,"command":%q}`, skill, command)
	}
	calls := []string{run("git", "git x"), run("git", "rm x"), run("all", "rm x"), run("free", "rm x"), run(" free ", "rm x"), run("nobody", "rm x"), `skill_write_stdin {"session_id":"s1"}`}
	for combine, want := range map[permission.Combine]string{
		permission.Union:        "yes no yes asked asked yes yes",
		permission.Intersection: "yes no no no no no no",
	} {
		p := &person{answer: core.AnswerAllow}
		c := chattest.NewChat(t, chattest.Open(t, files, satchel.WithApprover(p.approve), satchel.WithPermissions(satchel.Permissions{Policy: permission.Restrict, Combine: combine}))).Say(core.User, "hi")
		c.Gate(`skill_load {"skills":["git","all","free"]}`)
		p.times()
		var got []string
		for _, call := range c.Respond(calls...) {
			switch d := c.Decide(call); {
			case d.Denied:
				got = append(got, "no")
			case p.times() == 1:
				got = append(got, "asked")
			default:
				got = append(got, "yes")
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %s, want %s", combine, text, want)
		}
	}
}

// Where commands may be of skills that are not loaded, the list of such a skill denies a run
// of it that it does not name, and grants none.
func TestListsOfSkillsThatAreNotLoaded(t *testing.T) {
	p := &person{answer: core.AnswerAllow}
	c := chattest.NewChat(t, chattest.Open(t, withLists(map[string]string{"git": "Bash(git:*)", "free": "-"}),
		satchel.WithApprover(p.approve), satchel.WithRunner(satchel.Runner{AllowUnloaded: true}))).Say(core.User, "hi")
	for _, tt := range []struct {
		skill, command string
		denied         bool
	}{{"git", "git x", false}, {"git", "rm x", true}, {"free", "rm x", false}} {
		call := c.Respond(fmt.Sprintf(`skill_run {"skill":%q,"command":%q}`, tt.skill, tt.command))[0]
		if d, asked := c.Decide(call), p.times() == 1; d.Denied != tt.denied || asked == tt.denied {
			t.Errorf("%s, %s: %+v, asked %v", tt.skill, tt.command, d, asked)
		}
	}
}

// What a repaired list allows is asked about, and the answer to the load says so.
func TestRepairedListsAreAskedAbout(t *testing.T) {
	p := &person{answer: core.AnswerAllow}
	c := listedChat(t, satchel.WithApprover(p.approve))
	call := c.Respond(`skill_load {"skill":"broken"}`)[0]
	if answer := c.Execute(call); !strings.Contains(answer, "tools allowed now, each after a question: ") {
		t.Errorf("the load answers %s", answer)
	}
}

func TestListsThatNameInVain(t *testing.T) {
	files := withLists(map[string]string{"a": "Read Raed Grep mcp__x__y skill_search Bash Write({a"})
	rt := chattest.Open(t, files)
	c := chattest.NewChat(t, rt).Say(core.User, "hi")
	call := c.Respond(`skill_load {"skill":"a"}`)[0]
	if _, err := rt.Prepare(c.Context, core.Request{Key: c.Key, Messages: c.Messages, Tools: []string{"read_file", "skill_load", "skill_run"}}); err != nil {
		t.Fatal(err)
	}
	if answer := c.Execute(call); !strings.Contains(answer, "\nlisted, but you have no such tool: Grep, mcp__x__y, skill_search; listed, but no known tool has this name: Raed\n") {
		t.Errorf("the load answers %s", answer)
	}
	var found []string
	for _, d := range rt.Diagnostics() {
		if slices.Contains([]skillmd.Code{judging.CodeEntry, judging.CodeName}, d.Code) {
			found = append(found, d.Message)
		}
	}
	chattest.Same(t, "diagnostics", found,
		"allowed-tools: Write({a allows nothing: neither a name nor a name with a pattern in parentheses",
		"allowed-tools: no known tool is called Raed")
}

func TestDenialsAndUnmappedToolsAreLogged(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelInfo}))
	rt := chattest.OpenLogged(t, logger, withLists(map[string]string{"a": "Read"}))
	c := chattest.NewChat(t, rt).Say(core.User, "hi")
	for range 2 {
		if _, err := rt.Prepare(c.Context, core.Request{Key: c.Key, Messages: c.Messages, Tools: []string{"read_file", "skill_load", "lookup_order", "exit"}}); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(log.String(), "tools=lookup_order"); n != 1 || !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("the log has it %d times: %s", n, &log)
	}
	log.Reset()
	c.Gate(`skill_load {"skill":"a"}`, "read_file {}", "run_command {}")
	if !strings.Contains(log.String(), "level=INFO msg=tool.denied") || !strings.Contains(log.String(), "With your tools that is: read_file.") {
		t.Errorf("the log is %s", &log)
	}
}
