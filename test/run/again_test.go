package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// listedFiles are pdf, whose list allows runs of "echo" alone, csv, which has a list
// without runs, and plain, which has none.
func listedFiles() fstest.MapFS {
	skill := func(name, list string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: Does " + name + ".\n" + list + "---\nText of " + name + ".\n")}
	}
	return fstest.MapFS{
		"pdf/SKILL.md":   skill("pdf", "allowed-tools: Bash(echo:*) Read\n"),
		"pdf/notes.md":   {Data: []byte("notes of pdf\n")},
		"csv/SKILL.md":   skill("csv", "allowed-tools: Read\n"),
		"plain/SKILL.md": skill("plain", ""),
	}
}

// after is a chat in mode adaptive whose second turn has begun. The texts of the skills that
// the first turn loaded are in view, because at its prices carrying is free.
func after(t *testing.T, files fs.FS, skills []string, opts ...satchel.Option) *chattest.Chat {
	t.Helper()
	return afterLoading(t, satchel.Loading{Prices: loadmode.Prices{Write: 1}}, files, skills, opts...)
}

func afterLoading(t *testing.T, loading satchel.Loading, files fs.FS, skills []string, opts ...satchel.Option) *chattest.Chat {
	t.Helper()
	executor, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	opts = append(opts, satchel.WithLoading(loading), satchel.WithRunner(satchel.Runner{Executor: executor}))
	c := chattest.NewChat(t, chattest.Open(t, files, opts...)).Say(core.User, "one")
	for _, s := range skills {
		c.Calls("skill_load " + s)
	}
	c.Answer("done")
	c.Say(core.User, "two")
	view := chattest.Shown(c.View())
	for _, s := range skills {
		if !strings.Contains(view, "Text of "+s+".") {
			t.Fatalf("the text of %s is not in view:\n%s", s, view)
		}
	}
	chattest.Same(t, "loaded skills", c.LoadedNames())
	return c
}

func runs(skill, command string) string {
	return fmt.Sprintf(`skill_run {"skill":%q,"command":%q}`, skill, command)
}

// After the turn no list holds; a run loads its skill again, and the list judges it
// and what comes after it.
func TestARunLoadsItsSkillAgain(t *testing.T) {
	c := after(t, listedFiles(), []string{"pdf"})
	before := c.View()
	chattest.Same(t, "of a list that has ended", c.Gate(`skill_run {"skill":"plain","command":"true"}`), "skill_run")
	chattest.Same(t, "loaded skills", c.LoadedNames())

	got := c.Calls(runs("pdf", "echo ran"))[0]
	var answer struct{ Stdout, Loaded string }
	if err := json.Unmarshal([]byte(got), &answer); err != nil || answer.Stdout != "ran\n" || !strings.HasPrefix(answer.Loaded, "loaded: pdf; its text is above\n") {
		t.Errorf("answer %s, %v", got, err)
	}
	if _, ok := state.ParseReceipt(answer.Loaded); !ok {
		t.Errorf("no receipt in %q", answer.Loaded)
	}
	chattest.Same(t, "loaded skills", c.LoadedNames(), "pdf[]")
	if got := c.Calls(runs("pdf", "rm -f x"))[0]; !strings.HasPrefix(got, "denied:") {
		t.Errorf("what the list does not allow: %s", got)
	}
	if view := c.View(); chattest.Shown(view[:len(before)]) != chattest.Shown(before) {
		t.Error("the prefix broke")
	}
	if n := strings.Count(chattest.Shown(c.View()), "Text of pdf."); n != 1 {
		t.Errorf("the text is in view %d times", n)
	}
}

func TestTheListJudgesTheVeryCall(t *testing.T) {
	c := after(t, listedFiles(), []string{"pdf"})
	got := c.Calls(runs("pdf", "touch there"))[0]
	if !strings.HasPrefix(got, "denied:") || !strings.Contains(got, "\nloaded: pdf; its text is above\n") {
		t.Errorf("answer %q", got)
	}
	chattest.Same(t, "loaded skills", c.LoadedNames(), "pdf[]")
}

// Of several calls in one response the lowest position loads, and each is judged by
// what stands before it.
func TestTheLowestPositionLoads(t *testing.T) {
	c := after(t, listedFiles(), []string{"pdf", "csv"})
	made := c.Respond(runs("plain", "echo before"), runs("pdf", "echo 1"), runs("csv", "echo 2"), runs("pdf", "echo 3"))
	var answers []string
	for _, call := range made {
		answers = append(answers, c.Execute(call))
	}
	for i, want := range []struct {
		loaded bool
		denied bool
	}{{false, false}, {true, false}, {true, true}, {false, false}} {
		if strings.Contains(answers[i], "its text is above") != want.loaded || strings.HasPrefix(answers[i], "denied:") != want.denied {
			t.Errorf("call %d answers %s", i, answers[i])
		}
	}
	chattest.Same(t, "loaded skills", c.LoadedNames(), "pdf[]", "csv[]")
}

func TestAChangedSkillIsNotRunUnderItsOldText(t *testing.T) {
	files := listedFiles()
	c := after(t, files, []string{"pdf"})
	files["pdf/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: pdf\ndescription: Does pdf.\n---\nNew text.\n")}
	if got := c.Calls(runs("pdf", "echo ran"))[0]; got != "pdf has changed since it was loaded: load it again" {
		t.Errorf("answer %q", got)
	}
	if got := c.Calls(`skill_select_docs {"skill":"pdf","docs":["notes.md"]}`)[0]; got != "error: pdf has changed since it was loaded: load it again" {
		t.Errorf("answer %q", got)
	}
	chattest.Same(t, "loaded skills", c.LoadedNames())
}

// A call loads its skill again only where skill_load would.
func TestLoadingAgainIsNoWayAroundALoad(t *testing.T) {
	t.Run("removed", func(t *testing.T) {
		files := listedFiles()
		c := after(t, files, []string{"pdf"})
		delete(files, "pdf/SKILL.md")
		if err := c.Runtime.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := c.Calls(runs("pdf", "echo ran"))[0]; strings.Contains(got, "ran") {
			t.Errorf("answer %q", got)
		}
	})
	t.Run("denied by the gate", func(t *testing.T) {
		closed := false
		gate := satchel.WithGate(func(_ context.Context, _ core.SessionKey, call core.ToolCall) core.Decision {
			return core.Decision{Denied: closed && call.Name == "skill_load" && strings.Contains(call.Arguments, "pdf"), Reason: "no"}
		})
		c := after(t, listedFiles(), []string{"pdf"}, gate)
		closed = true
		if got := c.Calls(runs("pdf", "echo ran"))[0]; !strings.Contains(got, "is not loaded: call skill_load for it first") {
			t.Errorf("answer %q", got)
		}
	})
	t.Run("mode turn", func(t *testing.T) {
		c := afterLoading(t, satchel.Loading{Clearing: loadmode.CachePolicy{Write: 1}}, listedFiles(), []string{"pdf"})
		if got := c.Calls(runs("pdf", "echo ran"))[0]; !strings.Contains(got, "is not loaded: call skill_load for it first") {
			t.Errorf("answer %q", got)
		}
	})
}

// What a run loads counts against the cap, and its answer says what went.
func TestLoadingAgainEvicts(t *testing.T) {
	c := afterLoading(t, satchel.Loading{Prices: loadmode.Prices{Write: 1}, Max: 1}, listedFiles(), []string{"pdf"})
	c.Calls("skill_load plain")
	if got := c.Calls(runs("pdf", "echo ran"))[0]; !strings.Contains(got, "unloaded to make room (at most 1): plain") {
		t.Errorf("answer %s", got)
	}
	chattest.Same(t, "loaded skills", c.LoadedNames(), "pdf[]")
}

func TestReadingDoesNotLoad(t *testing.T) {
	c := after(t, listedFiles(), []string{"pdf"})
	if got := c.Calls(`skill_read {"skill":"pdf","path":"notes.md"}`)[0]; !strings.Contains(got, "notes of pdf") {
		t.Errorf("answer %q", got)
	}
	if got := c.Calls(`skill_read {"skill":"plain","path":"SKILL.md"}`)[0]; !strings.Contains(got, "not loaded") {
		t.Errorf("answer %q", got)
	}
	chattest.Same(t, "loaded skills", c.LoadedNames())
}

// The load outlives the process: between the response and its call, after the load,
// and where the store is lost within the turn.
func TestLoadingAgainAfterARestart(t *testing.T) {
	files, store := listedFiles(), session.NewMemory()
	open := func(store session.Store) *satchel.Runtime {
		executor, err := local.New()
		if err != nil {
			t.Fatal(err)
		}
		return chattest.Open(t, files, satchel.WithStore(store), satchel.WithLoading(satchel.Loading{Prices: loadmode.Prices{Write: 1}}), satchel.WithRunner(satchel.Runner{Executor: executor}))
	}
	c := after(t, files, []string{"pdf"}, satchel.WithStore(store))
	made := c.Respond("search x", runs("pdf", "echo ran"))
	c.Messages = append(c.Messages, core.Message{Role: core.ToolResult, CallID: made[0].ID, Tool: "search", Text: "found"})
	c.Runtime = open(store)
	first := c.Execute(made[1])
	if !strings.Contains(first, "loaded: pdf; its text is above") {
		t.Errorf("after a restart: %s", first)
	}
	c.Messages = c.Messages[:len(c.Messages)-1]
	c.Runtime = open(store)
	if again := c.Execute(made[1]); again != first {
		t.Errorf("executed again: %s\nwant %s", again, first)
	}
	chattest.Same(t, "loaded skills", c.LoadedNames(), "pdf[]")
	c.Runtime = open(session.NewMemory())
	c.View()
	chattest.Same(t, "loaded skills without the record", c.LoadedNames(), "pdf[]")
	if got := c.Calls(runs("pdf", "touch there"))[0]; !strings.HasPrefix(got, "denied:") {
		t.Errorf("the list after the record was lost: %s", got)
	}
}
