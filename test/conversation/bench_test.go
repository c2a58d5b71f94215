package conversation_test

import (
	"fmt"
	"io/fs"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
)

// load is what a benchmark of Prepare varies.
type load struct {
	skills, messages, loaded, unloaded int
}

func (l load) String() string {
	return fmt.Sprintf("skills=%d/messages=%d/loaded=%d/unloaded=%d", l.skills, l.messages, l.loaded, l.unloaded)
}

// long makes a chat in the middle of a turn: skills with docs loaded, some of
// them unloaded again, and filled up with calls of a tool of the host.
func (l load) long(b testing.TB, opts ...satchel.Option) *chattest.Chat {
	b.Helper()
	w := chattest.NewWorld(l.skills)
	for name, s := range w.Skills {
		w.Write(name+"/SKILL.md", fmt.Sprintf("---\nname: %s\ndescription: Purpose %d of it.\n---\n%s\n%s", name, s.Description, chattest.BodyMark(name, s.Body), strings.Repeat("Do this, then that. ", 400)))
	}
	c := chattest.NewChat(b, chattest.Open(b, w.Files, append(opts, satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))...))
	c.Say(core.System, "You help.").Say(core.User, "hi")
	for i := range l.loaded + l.unloaded {
		c.Calls(fmt.Sprintf(`skill_load {"skill":"s%d","docs":["d0.md","d1.md"]}`, i))
	}
	for i := range l.unloaded {
		c.Calls(fmt.Sprintf("skill_unload s%d", i))
	}
	for i := 0; len(c.Messages) < l.messages; i++ {
		call := core.ToolCall{ID: fmt.Sprint(i), Name: "search"}
		c.Messages = append(c.Messages, core.Message{Role: core.Assistant, Calls: []core.ToolCall{call}},
			core.Message{Role: core.ToolResult, CallID: call.ID, Tool: "search", Text: strings.Repeat("found this ", 50)})
	}
	c.Messages = c.Messages[:max(l.messages, 2)]
	return c
}

// BenchmarkPrepare measures one model call in the middle of a turn. It depends
// on the messages, not on the size of the catalog.
func BenchmarkPrepare(b *testing.B) {
	loads := []load{{12, 60, 3, 0}}
	for _, n := range []int{10, 100, 1_000, 10_000} {
		loads = append(loads, load{n, 60, 3, 0})
	}
	for _, n := range []int{10, 30, 120, 240} {
		loads = append(loads, load{12, n, 3, 0})
	}
	for _, n := range []int{0, 1, 2, 8} {
		loads = append(loads, load{12, 60, n, 0})
	}
	loads = append(loads, load{12, 60, 3, 4})
	for _, l := range loads {
		b.Run(l.String(), func(b *testing.B) {
			c := l.long(b)
			req := core.Request{Key: c.Key, Messages: c.Messages}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Runtime.Prepare(c.Context, req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPrepareParallel measures many sessions of one runtime.
func BenchmarkPrepareParallel(b *testing.B) {
	c := load{12, 60, 3, 0}.long(b)
	var sessions atomic.Int64
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		req := core.Request{Key: core.SessionKey{Session: fmt.Sprint(sessions.Add(1))}, Messages: c.Messages}
		for pb.Next() {
			if _, err := c.Runtime.Prepare(c.Context, req); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// counting counts what is opened in a file system.
type counting struct {
	fs.FS
	opens *atomic.Int64
}

func (c counting) Open(name string) (fs.File, error) {
	c.opens.Add(1)
	return c.FS.Open(name)
}

// TestPrepareOpensNoFile: within a turn a view is made without the disk, with
// few allocations.
func TestPrepareOpensNoFile(t *testing.T) {
	var opens atomic.Int64
	w := chattest.NewWorld(12)
	r, err := satchel.New(satchel.WithSkillFS("world", counting{w.Files, &opens}))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := chattest.NewChat(t, r).Say(core.System, "You help.").Say(core.User, "hi")
	for i := range 3 {
		c.Calls(fmt.Sprintf(`skill_load {"skill":"s%d","docs":["d0.md","d1.md"]}`, i))
	}
	if opens.Load() == 0 {
		t.Fatal("the loads have opened nothing: does the count work?")
	}
	before := opens.Load()
	for range 20 {
		c.View()
		c.Say(core.Assistant, "thinking")
	}
	if n := opens.Load() - before; n != 0 {
		t.Errorf("%d files were opened", n)
	}
	req := core.Request{Key: c.Key, Messages: c.Messages}
	allocs := testing.AllocsPerRun(100, func() {
		if _, err := r.Prepare(c.Context, req); err != nil {
			t.Error(err)
		}
	})
	if allocs > 40 {
		t.Errorf("%v allocations, want at most 40", allocs)
	}
}

// TestPrepareAllocations holds what README.md says of a model call. The catalog may
// allocate in the background meanwhile, so one of many measurements counts.
func TestPrepareAllocations(t *testing.T) {
	c := load{12, 60, 3, 0}.long(t)
	req := core.Request{Key: c.Key, Messages: c.Messages}
	least := math.Inf(1)
	for range 1000 {
		allocs := testing.AllocsPerRun(100, func() {
			if _, err := c.Runtime.Prepare(c.Context, req); err != nil {
				t.Error(err)
			}
		})
		if least = min(least, allocs); least <= 3 {
			return
		}
	}
	t.Errorf("%v allocations, want at most 3", least)
}
