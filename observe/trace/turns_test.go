package trace_test

import (
	stdcontext "context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/observe/trace"
)

// summaries returns the lines of a trace that belong to a session, as EVENT TURN/CALL.
func summaries(t *testing.T, text string) string {
	t.Helper()
	var all []string
	for _, l := range lines(t, text) {
		if l["session"] == nil {
			continue
		}
		one := fmt.Sprint(l["event"], " ", l["turn"])
		if l["call"] != nil {
			one += fmt.Sprint("/", l["call"])
		}
		if l["prompt"] != nil {
			one += fmt.Sprintf(" %q", l["prompt"])
		}
		all = append(all, one)
	}
	return strings.Join(all, ", ")
}

// A turn has its line when it begins, also if no call follows. What still waits for a call belongs to the
// turn before.
func TestTurnsBeginAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		tr, err := trace.New(&b)
		if err != nil {
			t.Fatal(err)
		}
		ctx, q := stdcontext.Background(), first()
		event := func(e core.Event) {
			e.Key, e.Time = q.Key, time.Now()
			tr.Event(ctx, e)
			synctest.Wait()
		}
		check := func(want string) {
			t.Helper()
			if got := summaries(t, b.String()); got != want {
				t.Errorf("the trace is\n%s\nwant\n%s", got, want)
			}
		}
		event(core.Event{Kind: core.TurnBegun, Turn: 1, Prompt: "one"})
		event(core.Event{Kind: core.SkillLoaded, Turn: 1, Skill: "guard", By: "user"})
		check(`turn 1 "one"`)
		event(core.Event{Kind: core.TurnBegun, Turn: 2, Prompt: "two"})
		event(core.Event{Kind: core.TurnBegun, Turn: 2, Prompt: "in the fork", Fork: "pdf"})
		event(core.Event{Kind: core.SkillCompleted, Turn: 2, Skill: "guard", Detail: "turn"})
		check(`turn 1 "one", loaded 1/1, turn 2 "two"`)
		q.View.Turn, q.View.Prompt = 2, "two"
		tr.Request(ctx, q)
		event(core.Event{Kind: core.SkillCompleted, Turn: 2, Skill: "pdf", Detail: "answered"})
		event(core.Event{Kind: core.TurnBegun, Turn: 3, Prompt: "three"})
		check(`turn 1 "one", loaded 1/1, turn 2 "two", call 2/1, unloaded 2/1, unloaded 2/1, turn 3 "three"`)
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Lines about calls of another process have their numbers. Those that wait for a call have the number of the
// next one, and what is left of a fork is written when it ends.
func TestLinesOfAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		tr, err := trace.New(&b)
		if err != nil {
			t.Fatal(err)
		}
		ctx, q := stdcontext.Background(), first()
		key, call := q.Key, core.ToolCall{ID: "c9", Name: "skill_run"}
		event := func(e core.Event) {
			e.Time = time.Now()
			tr.Event(ctx, e)
		}
		// Another agent goes on before the first one.
		helper := core.SessionKey{Session: key.Session, Agent: "helper"}
		event(core.Event{Kind: core.SkillUsed, Key: helper, Turn: 4, ModelCall: 7, IsSubagent: true, Skill: "pdf", Call: call})
		event(core.Event{Kind: core.ToolApproval, Key: key, Turn: 2, ModelCall: 4, Call: call, Approved: true})
		event(core.Event{Kind: core.SkillsSuggested, Key: key, Turn: 2, ModelCall: 4})
		time.Sleep(time.Second)
		q.ModelCall, q.View.Turn = 5, 2
		tr.Request(ctx, q)
		event(core.Event{Kind: core.SkillUsed, Key: key, Turn: 2, ModelCall: 5, Skill: "pdf", Call: call})
		event(core.Event{Kind: core.SkillUsed, Key: key, Turn: 2, ModelCall: 6, Skill: "pdf", Call: call}) // a call of the other process
		fork := q
		fork.Key.Agent, fork.View.Fork, fork.ModelCall = key.Agent+"/fork:pdf#3", "pdf", 2
		tr.Request(ctx, fork)
		event(core.Event{Kind: core.SkillCompleted, Key: fork.Key, Turn: 2, Fork: "pdf", ModelCall: 2, Skill: "pdf", Detail: "turn"})
		event(core.Event{Kind: core.TextCleared, Key: fork.Key, Turn: 2, Fork: "pdf", ModelCall: 2, Skill: "pdf", Cause: "unload"})
		event(core.Event{Kind: core.ForkEnded, Key: fork.Key, Turn: 2, Fork: "pdf", ModelCall: 2, Skill: "pdf"})
		q.ModelCall = 7
		tr.Request(ctx, q)
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
		want := `used 4/7, approval 2/4, suggested 2/5, turn 2 "Guard the door.", call 2/5, used 2/5, used 2/6, call 2/2, unloaded 2/2, cleared 2/2, call 2/7`
		if got := summaries(t, b.String()); got != want {
			t.Errorf("the trace is\n%s\nwant\n%s", got, want)
		}
		for _, l := range lines(t, b.String()) {
			if is := l["agent"] == "helper"; l["session"] != nil && is != (l["turn"] == 4.0) || l["agent"] == "chat" {
				t.Errorf("the agent is not known: %v", l)
			}
		}
	})
}

// Where something else makes the tool calls, no line waits for a call, except in a fork.
func TestTraceWithoutCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		tr, err := trace.New(&b, trace.WithoutCalls())
		if err != nil {
			t.Fatal(err)
		}
		ctx, key := stdcontext.Background(), first().Key
		fork := core.SessionKey{Session: key.Session, Agent: key.Agent + "/fork:pdf#1"}
		tr.Event(ctx, core.Event{Kind: core.TurnBegun, Key: key, Turn: 1, Prompt: "one"})
		tr.Event(ctx, core.Event{Kind: core.SkillsOffered, Key: key, Turn: 1})
		tr.Event(ctx, core.Event{Kind: core.SkillLoaded, Key: fork, Turn: 1, Fork: "pdf", Skill: "pdf", Call: load})
		tr.Event(ctx, core.Event{Kind: core.SkillsSuggested, Key: key, Turn: 1})
		tr.Event(ctx, core.Event{Kind: core.SkillLoaded, Key: key, Turn: 1, Skill: "guard", Call: load})
		q := first()
		q.Key, q.View.Fork = fork, "pdf"
		tr.Request(ctx, q)
		synctest.Wait()
		if got, want := summaries(t, b.String()), `turn 1 "one", offered 1, suggested 1, loaded 1, call 1/1, loaded 1/1`; got != want {
			t.Errorf("the trace is\n%s\nwant\n%s", got, want)
		}
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// delayed is a writer whose first write takes a time.
type delayed struct {
	strings.Builder
	wait time.Duration
}

func (d *delayed) Write(b []byte) (int, error) {
	time.Sleep(d.wait)
	d.wait = 0
	return d.Builder.Write(b)
}

// A line leaves within a second of its event, and not of the moment when the recorder takes it. It follows
// its call if that waits already.
func TestEventsWaitFromTheirTime(t *testing.T) {
	for name, tc := range map[string]struct {
		request time.Duration // when the call comes, or 0
		want    string
	}{
		"no call":           {0, "loaded 1/1"},
		"a call that waits": {600 * time.Millisecond, "turn 1 \"Guard the door.\", call 1/1, loaded 1/1"},
		"a late call":       {900 * time.Millisecond, "loaded 1/1, turn 1 \"Guard the door.\", call 1/1"},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &delayed{wait: 700 * time.Millisecond}
			tr, err := trace.New(d)
			if err != nil {
				t.Fatal(err)
			}
			ctx, q := stdcontext.Background(), first()
			tr.Event(ctx, core.Event{Kind: core.SkillLoaded, Key: q.Key, Turn: 1, Skill: "guard", By: "host", Time: time.Now()})
			if tc.request > 0 {
				time.Sleep(tc.request)
				tr.Request(ctx, q)
			}
			time.Sleep(999*time.Millisecond - tc.request)
			synctest.Wait()
			if got := summaries(t, d.String()); got != tc.want {
				t.Errorf("%s: the trace is\n%s\nwant\n%s", name, got, tc.want)
			}
			if err := tr.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
