package tracing

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/wiretest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// blocked is a store whose saves wait while its gate is shut. Contexts do not end them.
type blocked struct {
	*session.Memory

	mu      sync.Mutex
	gate    chan struct{} // nil while it is open
	waiting int
	saves   int
	loads   int
}

func (b *blocked) Load(ctx context.Context, key core.SessionKey) (session.Value, error) {
	b.mu.Lock()
	b.loads++
	b.mu.Unlock()
	return b.Memory.Load(ctx, key)
}

func (b *blocked) Save(ctx context.Context, key core.SessionKey, v session.Value) (session.Value, error) {
	b.mu.Lock()
	gate := b.gate
	b.saves++
	if gate != nil {
		b.waiting++
	}
	b.mu.Unlock()
	if gate != nil {
		<-gate
		b.mu.Lock()
		b.waiting--
		b.mu.Unlock()
	}
	return b.Memory.Save(ctx, key, v)
}

func (b *blocked) shut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gate = make(chan struct{})
}

func (b *blocked) open() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.gate)
	b.gate = nil
}

// counts returns how many saves wait, and how many saves and loads there were.
func (b *blocked) counts() (waiting, saves, loads int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting, b.saves, b.loads
}

// eachHost runs a test in both frameworks, with answers that are whole and streamed.
func eachHost(t *testing.T, test func(t *testing.T, start func(runtimes ...*satchel.Runtime) []process)) {
	for framework, hosts := range processes {
		for _, streams := range []bool{false, true} {
			name := framework
			if streams {
				name += ", streamed"
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					test(t, func(runtimes ...*satchel.Runtime) []process {
						all := hosts(t, runtimes...)
						for _, p := range all {
							if streams {
								p.stream()
							}
						}
						return all
					})
				})
			})
		}
	}
}

// look is a call of the host's tool, which changes no record.
func look(id string) wiretest.Answer {
	return answer(wiretest.Call{ID: id, Name: wiretest.HostTool, Arguments: "{}"})
}

// maxHeld is how long an answer may wait for a store that does not save.
const maxHeld = 20 * time.Millisecond

// A request leaves while the store still saves its number, and the answer hardly waits for that. The number is saved
// when the store goes on.
func TestRequestDoesNotWaitForTheStore(t *testing.T) {
	eachHost(t, func(t *testing.T, start func(...*satchel.Runtime) []process) {
		store, j := &blocked{Memory: session.NewMemory()}, &journal{}
		rt := newRuntime(t, satchel.WithTrace(j), satchel.WithStore(store))
		p := start(rt)[0]
		p.say("one")
		p.ask(t, look("c1"))
		p.act(t)
		store.shut()
		began, held := time.Now(), time.Duration(-1)
		p.observe(func() error {
			held = time.Since(began)
			synctest.Wait()
			if waiting, _, _ := store.counts(); waiting != 1 {
				t.Errorf("%d saves run beside the request, want 1", waiting)
			}
			return nil
		})
		p.ask(t, look("c2"))
		if took := time.Since(began); held != 0 || took > maxHeld {
			t.Errorf("the request left after %v, the answer came after %v", held, took)
		}
		p.observe(nil)
		p.act(t)
		p.ask(t, look("c3")) // one save waits, and takes this number too
		if took := time.Since(began); took > 2*maxHeld {
			t.Errorf("two calls took %v", took)
		}
		if waiting, _, _ := store.counts(); waiting != 1 {
			t.Errorf("%d saves wait, want 1", waiting)
		}
		store.open()
		if err := rt.Close(); err != nil {
			t.Fatal(err)
		}
		j.add("another process")
		next := start(newRuntime(t, satchel.WithTrace(j), satchel.WithStore(store)))[0]
		next.say("one") // its history begins with the same turn
		next.ask(t, answer())
		compare(t, "journal", j.lines, []string{"call 1/1:", "call 1/2:", "call 1/3:", "another process", "call 1/4:"})
	})
}

// The first request of a turn needs no save beside the one that begins the turn, except the first one of the process. A
// call of a tool loads no record for the trace.
func TestTraceAddsNoAccessToTheStore(t *testing.T) {
	eachHost(t, func(t *testing.T, start func(...*satchel.Runtime) []process) {
		counts := func(opts ...satchel.Option) (saves, loads int) {
			store := &blocked{Memory: session.NewMemory()}
			p := start(newRuntime(t, append(opts, satchel.WithStore(store))...))[0]
			for _, text := range []string{"one", "two", "three"} {
				p.say(text)
				p.ask(t, look("c-"+text))
				p.act(t)
			}
			synctest.Wait()
			_, saves, loads = store.counts()
			return saves, loads
		}
		saves, loads := counts()
		tracedSaves, tracedLoads := counts(satchel.WithTrace(&journal{}))
		if tracedSaves != saves+1 || tracedLoads != loads {
			t.Errorf("%d saves and %d loads with a trace, %d and %d without", tracedSaves, tracedLoads, saves, loads)
		}
	})
}

// A request whose context ends has its number in the record, and the next one another number.
func TestNumberOfARequestWhoseContextEnds(t *testing.T) {
	eachHost(t, func(t *testing.T, start func(...*satchel.Runtime) []process) {
		store, j := &blocked{Memory: session.NewMemory()}, &journal{}
		p := start(newRuntime(t, satchel.WithTrace(j), satchel.WithStore(store)), newRuntime(t, satchel.WithTrace(j), satchel.WithStore(store)))
		p[0].say("one")
		p[0].ask(t, look("c1"))
		p[0].act(t)
		ctx, cancel := context.WithCancel(t.Context())
		p[0].observe(func() error {
			cancel()
			return ctx.Err()
		})
		if err := p[0].fail(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("the call returns %v", err)
		}
		synctest.Wait()
		p[1].ask(t, answer())
		compare(t, "journal", j.lines, []string{"call 1/1:", "call 1/2:", "call 1/3:"})
	})
}

// A load within a turn waits for the save of the number before it, so the two do not conflict. The load names the
// call that made it.
func TestLoadAfterABlockedSave(t *testing.T) {
	eachHost(t, func(t *testing.T, start func(...*satchel.Runtime) []process) {
		store, j := &blocked{Memory: session.NewMemory()}, &journal{}
		p := start(newRuntime(t, satchel.WithTrace(j), satchel.WithStore(store), satchel.WithLoading(satchel.Loading{Mode: loadmode.Session})))[0]
		p.say("one")
		p.ask(t, look("c1"))
		p.act(t)
		store.shut()
		time.AfterFunc(time.Second, store.open)
		_, before, _ := store.counts()
		began := time.Now()
		p.ask(t, loads("c2", "pdf"))
		p.act(t)
		if took := time.Since(began); took != time.Second {
			t.Errorf("the load took %v, want a second", took)
		}
		if _, saves, _ := store.counts(); saves-before > 3 { // of the number, of the response, of the load
			t.Errorf("%d saves, want 3", saves-before)
		}
		p.ask(t, answer())
		compare(t, "journal", j.lines, []string{"call 1/1:", "call 1/2:", "loaded pdf after 1/2", "call 1/3: pdf by 2 pdf/forms.md by 2"})
	})
}

// A session that ends while a number is saved stays ended. A store that never answers holds up the end of the runtime
// for two seconds at most.
func TestEndWhileANumberIsSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, j := &blocked{Memory: session.NewMemory()}, &journal{}
		rt := newRuntime(t, satchel.WithTrace(j), satchel.WithStore(store))
		l := newLoop(t, rt, "a")
		l.call()
		store.shut()
		l.call()
		time.AfterFunc(time.Second, store.open)
		if err := rt.EndSession(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		if v, err := store.Load(t.Context(), l.key); err != nil || v.Version != 0 {
			t.Errorf("the ended session has the record %s, %v", v.Data, err)
		}
		l = newLoop(t, rt, "a")
		l.call()
		store.shut()
		l.call()
		began := time.Now()
		if err := rt.Close(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("Close took %v", took)
		}
		store.open()
		if got := strings.Join(j.lines, " "); got != "call 1/1: call 1/2: call 1/1: call 1/2:" {
			t.Errorf("the calls are %s", got)
		}
	})
}
