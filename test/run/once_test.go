//go:build unix

package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

const begunBefore = "error: this command was begun before and its end is unknown: look at its files before running it again"

// effects is a file to which commands append a line each.
type effects string

// command is a call of a tool that appends a line and prints so many bytes.
func (e effects) command(tool string, prints int) string {
	return fmt.Sprintf(`%s {"skill":"plain","command":"echo ran >> %s; head -c %d /dev/zero | tr '\\0' x"}`, tool, e, prints)
}

func (e effects) count(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(string(e))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "ran\n")
}

// onceHost is another replica over the store that has the same messages, "hi" if nil.
func onceHost(t *testing.T, store session.Store, messages []core.Message, opts ...satchel.Option) *chattest.Chat {
	t.Helper()
	executor, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	c := chattest.NewChat(t, chattest.Open(t, listedFiles(), append([]satchel.Option{
		satchel.WithStore(store), satchel.WithRunner(satchel.Runner{Executor: executor, AllowUnloaded: true, Once: true}),
	}, opts...)...))
	if messages == nil {
		c.Say(core.User, "hi")
	}
	c.Messages = append(c.Messages, messages...)
	return c
}

// A turn that is run again on another replica gets the answers of the commands that
// have ended, whatever their length, and runs those that have not begun.
func TestOnceTurnRunsAgain(t *testing.T) {
	for _, tool := range []string{"skill_run", "skill_exec"} {
		for _, prints := range []int{10, 10_000} {
			t.Run(fmt.Sprint(tool, prints), func(t *testing.T) {
				effects := effects(filepath.Join(t.TempDir(), "effects"))
				store := session.NewMemory()
				first := onceHost(t, store, nil)
				said := first.Messages
				made := first.Respond("skill_load plain", effects.command(tool, prints), effects.command(tool, prints))
				answers := []string{first.Execute(made[0]), first.Execute(made[1])}

				second := onceHost(t, store, said)
				second.View()
				second.Observe(made)
				for i, call := range made {
					if got := second.Execute(call); i < 2 && got != answers[i] {
						t.Errorf("call %d: %s\nwas answered: %s", i, got, answers[i])
					}
				}
				if n := effects.count(t); n != 2 {
					t.Errorf("%d commands ran", n)
				}
				// This process has seen no response that contains the resumed call.
				third := onceHost(t, store, second.Messages[:2])
				if got := third.Execute(made[1]); got != answers[1] {
					t.Errorf("resumed: %s", got)
				}
				if n := effects.count(t); n != 2 {
					t.Errorf("%d commands ran", n)
				}
			})
		}
	}
}

// A response that is the same as one whose results the model has seen is another one.
func TestOnceSameCallLater(t *testing.T) {
	effects := effects(filepath.Join(t.TempDir(), "effects"))
	store := session.NewMemory()
	c := onceHost(t, store, nil)
	call := c.Respond(effects.command("skill_run", 1))[0]
	c.Execute(call)
	for want := 2; want < 4; want++ {
		c = onceHost(t, store, c.Messages)
		c.View()
		c.Observe([]core.ToolCall{call})
		c.Execute(call)
		if n := effects.count(t); n != want {
			t.Errorf("%d commands ran, want %d", n, want)
		}
	}
}

// Of replicas that run a turn at the same time one starts the command.
func TestOnceAtTheSameTime(t *testing.T) {
	effects := effects(filepath.Join(t.TempDir(), "effects"))
	store := session.NewMemory()
	var hosts []*chattest.Chat
	for range 6 {
		hosts = append(hosts, onceHost(t, store, nil))
	}
	made := hosts[0].Respond(effects.command("skill_run", 1))
	for _, h := range hosts[1:] {
		h.View()
		h.Observe(made)
	}
	var wg sync.WaitGroup
	answers := make([]string, len(hosts))
	for i, h := range hosts {
		wg.Go(func() { answers[i] = h.Execute(made[0]) })
	}
	wg.Wait()
	if n := effects.count(t); n != 1 {
		t.Errorf("%d commands ran: %q", n, answers)
	}
	for _, a := range answers {
		if a != begunBefore && !strings.Contains(a, `"exit_code":0`) {
			t.Errorf("answer %s", a)
		}
	}
}

// A call whose command could not start may be executed again, and without Runner.Once
// every execution runs.
func TestOnceIsNotMore(t *testing.T) {
	effects := effects(filepath.Join(t.TempDir(), "effects"))
	store := session.NewMemory()
	c := onceHost(t, store, nil)
	missing := filepath.Join(t.TempDir(), "missing")
	call := c.Respond(fmt.Sprintf(`skill_run {"skill":"plain","command":"echo ran >> %s","inputs":[{"from":"workspace://%s"}]}`, effects, filepath.Base(missing)))[0]
	for range 2 {
		if got := c.Execute(call); !strings.HasPrefix(got, "error: ") || got == begunBefore {
			t.Errorf("answer %s", got)
		}
	}
	if n := effects.count(t); n != 0 {
		t.Errorf("%d commands ran", n)
	}

	executor, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	c = chattest.NewChat(t, chattest.Open(t, listedFiles(), satchel.WithRunner(satchel.Runner{Executor: executor, AllowUnloaded: true}))).Say(core.User, "hi")
	call = c.Respond(effects.command("skill_run", 1))[0]
	c.Execute(call)
	c.Execute(call)
	if n := effects.count(t); n != 2 {
		t.Errorf("by default %d commands ran of two executions", n)
	}
}

// A call that loads its skill again and then runs does neither twice.
func TestOnceReloads(t *testing.T) {
	effects := effects(filepath.Join(t.TempDir(), "effects"))
	store := session.NewMemory()
	free := satchel.WithLoading(satchel.Loading{Prices: loadmode.Prices{Write: 1}})
	c := onceHost(t, store, nil, free)
	c.Calls("skill_load plain")
	c.Answer("done")
	c.Say(core.User, "two")
	said := c.Messages
	call := c.Respond(effects.command("skill_run", 1))[0]
	want := c.Execute(call)
	if !strings.Contains(want, "its text is above") {
		t.Fatalf("answer %s", want)
	}
	again := onceHost(t, store, said, free)
	again.View()
	again.Observe([]core.ToolCall{call})
	if got := again.Execute(call); got != want {
		t.Errorf("%s\nwas answered: %s", got, want)
	}
	if n := effects.count(t); n != 1 {
		t.Errorf("%d commands ran", n)
	}
	chattest.Same(t, "loaded skills", again.LoadedNames(), "plain[]")
}

// A turn that is run again from its beginning repeats none of its commands, however many
// responses it has had, and what it had loaded it loads again.
func TestOnceTurnOfManyResponses(t *testing.T) {
	effects := effects(filepath.Join(t.TempDir(), "effects"))
	store := session.NewMemory()
	turn := func(fails int, ids *[]core.ToolCall, said []core.Message) (c *chattest.Chat, views [][]core.Message) {
		c = onceHost(t, store, said)
		c.Context = satchel.BeginTurn(t.Context(), "turn")
		for i, call := range []string{"skill_load plain", effects.command("skill_run", 1), "skill_load listed", effects.command("skill_exec", 10_000)} {
			if views = append(views, c.View()); len(*ids) <= i {
				*ids = append(*ids, c.Respond(call)...)
			} else {
				c.Observe((*ids)[i : i+1])
			}
			if i == fails {
				return c, views
			}
			c.Execute((*ids)[i])
		}
		return c, append(views, c.View())
	}
	var calls []core.ToolCall
	_, want := turn(4, &calls, nil)
	for fails := range 5 {
		turn(fails, &calls, nil)
		_, got := turn(4, &calls, nil)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("after a failure at call %d the views are\n%+v\nwant\n%+v", fails, got, want)
		}
		if n := effects.count(t); n != 2 {
			t.Errorf("%d commands ran", n)
		}
	}
}
