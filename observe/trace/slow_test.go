package trace_test

import (
	stdcontext "context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/observe/trace"
)

// gate is a writer that blocks until it is opened.
type gate struct {
	mu   sync.Mutex
	text strings.Builder
	open chan struct{}
}

func (g *gate) Write(b []byte) (int, error) {
	<-g.open
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.Write(b)
}

func (g *gate) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.String()
}

// A writer that blocks does not hold up calls, and Close returns after two seconds.
func TestCloseDoesNotWaitForABlockedWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		tr, err := trace.New(g)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		script(tr)
		if took := time.Since(began); took > 0 {
			t.Errorf("the calls took %v", took)
		}
		err = tr.Close()
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("Close took %v", took)
		}
		if err == nil || !strings.Contains(err.Error(), " lines dropped: a write does not return") || tr.Dropped() < 20 {
			t.Errorf("%v, %d dropped", err, tr.Dropped())
		}
		close(g.open)
		synctest.Wait()
		tr.Event(stdcontext.Background(), core.Event{Kind: core.SkillUsed})
		if again := tr.Close(); again != err {
			t.Errorf("the second Close returns %v", again)
		}
	})
}

// What does not fit into the queue is counted where the trace goes on, and a call that the trace lacks
// has no further lines.
func TestDroppedLinesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		tr, err := trace.New(g)
		if err != nil {
			t.Fatal(err)
		}
		ctx, key := stdcontext.Background(), first().Key
		used := func(n int) {
			for range n {
				tr.Event(ctx, core.Event{Kind: core.SkillUsed, Key: key, Skill: "guard", Detail: "run", Call: load})
			}
		}
		tr.Request(ctx, first())
		used(25_000)
		tr.Request(ctx, second())
		tr.Answer(ctx, core.ModelAnswer{ID: 2, Key: key, Text: "lost"})
		close(g.open)
		synctest.Wait()
		used(1) // of the call that was dropped
		third := second()
		third.ID = 3
		tr.Request(ctx, third)
		tr.Answer(ctx, core.ModelAnswer{ID: 3, Key: key, Text: "found"})
		synctest.Wait()
		if err := tr.Close(); err == nil || !strings.HasSuffix(err.Error(), " lines dropped: it is written more slowly than it grows") {
			t.Errorf("Close returns %v", err)
		}
		dropped, calls, answers, events := 0.0, []any{}, []any{}, 0
		for i, l := range lines(t, g.String()) {
			if l["seq"] != float64(i+1) {
				t.Fatalf("line %d has seq %v", i+1, l["seq"])
			}
			switch l["event"] {
			case "dropped":
				dropped += l["lines"].(float64)
			case "call":
				calls = append(calls, l["call"])
				if len(calls) == 2 && (l["keep"] != 2.0 || len(l["add"].([]any)) != 2) {
					t.Errorf("the call after the dropped one is %v", l)
				}
			case "answer":
				answers = append(answers, l["text"])
			case "used":
				events++
			}
		}
		if fmt.Sprint(calls, answers) != "[1 3] [found]" || dropped != float64(tr.Dropped()) || events+tr.Dropped() != 25_000+3 {
			t.Errorf("calls %v, answers %v, %v dropped of %d, %d events", calls, answers, dropped, tr.Dropped(), events)
		}
	})
}

// The bound of what waits is one of all texts of an event.
func TestTextsOfEventsAreBounded(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	for name, e := range map[string]core.Event{
		"prompt": {Kind: core.TurnBegun, Prompt: text},
		"skills": {Kind: core.SkillsSuggested, Skills: []string{text}},
		"named":  {Kind: core.SkillsOffered, Named: []string{text}},
		"docs":   {Kind: core.TextCleared, Docs: []string{text}},
		"reason": {Kind: core.ToolDenied, Detail: text},
		"files":  {Kind: core.CommandEnded, Command: &core.CommandReport{Files: []core.OutputFile{{Path: text}}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := &gate{open: make(chan struct{})}
			tr, err := trace.New(g)
			if err != nil {
				t.Fatal(err)
			}
			e.Key = first().Key
			for range 100 {
				tr.Event(stdcontext.Background(), e)
			}
			if n := tr.Dropped(); n < 4 || n > 8 {
				t.Errorf("%s: %d of 100 MiB are dropped, want those above 96", name, n)
			}
			close(g.open)
			synctest.Wait()
			if err := tr.Close(); err == nil {
				t.Errorf("%s: Close does not report the dropped lines", name)
			}
		})
	}
}

// failing is a writer that fails, and then works again.
type failing struct {
	fails int
	text  strings.Builder
}

func (f *failing) Write(b []byte) (int, error) {
	if f.fails--; f.fails < 0 {
		return f.text.Write(b)
	}
	f.text.Write(b[:len(b)/2])
	return len(b) / 2, errors.New("disk full")
}

// After a write that failed the trace goes on, on a line of its own and with the next number.
func TestWritesThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &failing{fails: 5}
		tr, err := trace.New(f)
		if err != nil {
			t.Fatal(err)
		}
		script(tr)
		err = tr.Close()
		if err == nil || !strings.HasSuffix(err.Error(), "lines dropped: disk full") {
			t.Errorf("Close returns %v", err)
		}
		seq, broken := 0.0, 0
		for l := range strings.Lines(f.text.String()) {
			var m map[string]any
			if json.Unmarshal([]byte(l), &m) != nil {
				broken++
				continue
			}
			if seq++; m["seq"] != seq {
				t.Errorf("line %v has seq %v", seq, m["seq"])
			}
		}
		if broken != 5 || seq < 20 {
			t.Errorf("%d broken lines and %v others:\n%s", broken, seq, f.text.String())
		}
	})
}

// An event without a call of its agent waits less than a second, and then has the number of the call
// that will follow. At the end it has none.
func TestEventsDoNotWaitLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		close(g.open)
		tr, err := trace.New(g)
		if err != nil {
			t.Fatal(err)
		}
		ctx, key := stdcontext.Background(), first().Key
		loaded := core.Event{Kind: core.SkillLoaded, Key: key, Skill: "guard", By: "host"}
		tr.Event(ctx, loaded)
		time.Sleep(time.Second)
		synctest.Wait()
		if all := lines(t, g.String()); len(all) != 2 || all[1]["event"] != "loaded" || all[1]["call"] != 1.0 {
			t.Errorf("after a second the trace is %v", all)
		}
		tr.Request(ctx, first())
		tr.Event(ctx, loaded)
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
		all := lines(t, g.String())
		if last := all[len(all)-2]; last["event"] != "loaded" || last["call"] != nil {
			t.Errorf("the last load is %v", last)
		}
	})
}

// A load that ended with an answer belongs to the call of that answer if no call follows soon. A line
// about a call follows the line of the call.
func TestLateLinesFollowTheirCall(t *testing.T) {
	for name, isIdle := range map[string]bool{"the host waits": true, "the trace ends": false} {
		synctest.Test(t, func(t *testing.T) {
			var b strings.Builder
			tr, err := trace.New(&b)
			if err != nil {
				t.Fatal(err)
			}
			ctx, q := stdcontext.Background(), first()
			tr.Request(ctx, q)
			tr.Event(ctx, core.Event{Kind: core.SkillCompleted, Key: q.Key, Turn: q.View.Turn, Skill: "guard", Detail: "answered"})
			if isIdle {
				time.Sleep(time.Second)
				synctest.Wait()
				if !strings.Contains(b.String(), `"unloaded"`) {
					t.Errorf("%s: the line does not leave within a second", name)
				}
			}
			if err := tr.Close(); err != nil {
				t.Fatal(err)
			}
			all := lines(t, b.String())
			if l := all[len(all)-2]; l["event"] != "unloaded" || l["call"] != 1.0 || l["turn"] != 1.0 {
				t.Errorf("%s: the line is %v", name, l)
			}
		})
	}
}

// A function that panics loses its line, and not the program.
func TestRedactPanics(t *testing.T) {
	var b strings.Builder
	tr, err := trace.New(&b, trace.Redact(func(text string) string {
		if strings.Contains(text, "Guard") {
			panic("no guards")
		}
		return text
	}))
	if err != nil {
		t.Fatal(err)
	}
	script(tr)
	if err := tr.Close(); err == nil || !strings.Contains(err.Error(), "no guards") {
		t.Errorf("Close returns %v", err)
	}
	if strings.Contains(b.String(), "Guard the door") || !strings.Contains(b.String(), `"event":"dropped"`) {
		t.Errorf("the trace is %s", b.String())
	}
}

// Many agents report at once; each of their requests keeps its number and its answer.
func TestManyAgentsAtOnce(t *testing.T) {
	var b strings.Builder
	tr, err := trace.New(&b)
	if err != nil {
		t.Fatal(err)
	}
	const sessions, calls = 16, 20
	var all sync.WaitGroup
	for s := range sessions {
		all.Go(func() { talk(tr, fmt.Sprint("s", s), 0, calls) })
		all.Go(func() {
			for range calls {
				tr.Event(stdcontext.Background(), core.Event{Kind: core.ToolAllowed, Key: core.SessionKey{Session: fmt.Sprint("s", s)}, Call: load, Decider: "no rule"})
				tr.Dropped()
			}
		})
	}
	all.Wait()
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	next, answered := map[any]float64{}, 0
	for _, l := range lines(t, b.String()) {
		switch l["event"] {
		case "call":
			if next[l["session"]]++; l["call"] != next[l["session"]] {
				t.Errorf("call %v of %v comes after %v", l["call"], l["session"], next[l["session"]]-1)
			}
		case "answer":
			answered++
			if l["text"] != fmt.Sprint("Answer ", l["call"].(float64)-1) {
				t.Errorf("call %v of %v has the answer %v", l["call"], l["session"], l["text"])
			}
		}
	}
	if len(next) != sessions || answered != sessions*calls {
		t.Errorf("%d sessions, %d answers", len(next), answered)
	}
}
