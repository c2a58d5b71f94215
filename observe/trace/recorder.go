package trace

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/lru"
	"github.com/satchel-go/satchel/internal/tracing/line"
)

// recorder turns items into lines and writes them. It runs on one goroutine.
type recorder struct {
	ctx context.Context // ends when writes must end
	config
	queue *queue
	out   output

	process string
	seq     int
	part    int
	// hasHeader reports that the current file has its first line.
	hasHeader bool
	known     map[string]bool // digests of messages and tools in the current file
	failed    error           // of the last write, or nil
	scratch   []byte

	tokens *tokenizer
	agents *lru.Cache[core.SessionKey, *agent]
	// first are the names of the first agents of sessions. A fork is never the first.
	first   *lru.Cache[string, string]
	views   *lru.Cache[core.SessionKey, *view]
	open    *lru.Cache[requestKey, callRef]
	holding map[*agent]bool // those that hold events back
}

// requestKey identifies a request among those of all runtimes that share the trace.
type requestKey struct {
	key core.SessionKey
	id  uint64
}

// callRef is what lines about a call need to know of it.
type callRef struct {
	call, turn int
	fork       string
}

func newRecorder(ctx context.Context, c config, q *queue, out output) *recorder {
	r := &recorder{
		ctx: ctx, config: c, queue: q, out: out, process: fmt.Sprintf("%d-%s", os.Getpid(), randomText()), known: map[string]bool{},
		tokens: newTokenizer(q.isLate), views: lru.New[core.SessionKey, *view](maxViews, nil),
		first: lru.New[string, string](maxNumbered, nil),
		open:  lru.New[requestKey, callRef](maxOpenCalls, nil), holding: map[*agent]bool{},
	}
	r.agents = lru.New(maxAgents, func(_ core.SessionKey, a *agent) { r.writeHeld(a, callRef{}) })
	return r
}

// run records items until the queue is closed, and ends the trace.
func (r *recorder) run() {
	_ = r.makeRoom() // the first line that is added tries it again
	if !r.withoutCalls {
		_ = r.tokens.open() // so does the first call; meanwhile the model answers
	}
	var items []item
	for isLast := false; !isLast; {
		r.wait()
		items, isLast = r.queue.take(items)
		for i := range items {
			r.handle(&items[i])
			r.queue.finish(&items[i])
			items[i] = item{}
		}
		r.releaseOld(isLast)
	}
	r.tellDropped()
	r.end()
	if err := r.out.close(); err != nil {
		r.queue.drop(0, err)
	}
}

// end writes the last line.
func (r *recorder) end() {
	err := r.makeRoom()
	if err == nil {
		err = r.put(&line.End{Head: line.Head{Event: line.EventEnd}, Lines: r.seq + 1})
	}
	if err != nil {
		r.queue.drop(1, err)
	}
}

// wait returns when there are items, or events that were held long enough.
func (r *recorder) wait() {
	if len(r.holding) == 0 {
		<-r.queue.wake
		return
	}
	oldest := time.Now()
	for a := range r.holding {
		if a.heldSince.Before(oldest) {
			oldest = a.heldSince
		}
	}
	timer := time.NewTimer(time.Until(oldest.Add(holdTime)))
	defer timer.Stop()
	select {
	case <-r.queue.wake:
	case <-timer.C:
	}
}

// handle records an item. What it cannot record is counted as a dropped line.
func (r *recorder) handle(i *item) {
	defer func() {
		if p := recover(); p != nil {
			r.queue.drop(1, fmt.Errorf("panic: %v", p))
		}
	}()
	if r.queue.isLate() {
		r.queue.drop(1, cmp.Or(r.failed, errEnd))
		return
	}
	r.tellDropped()
	switch {
	case i.request != nil:
		r.request(i)
	case i.answer != nil:
		r.answer(i)
	default:
		r.event(i)
	}
}

// tellDropped writes how many lines were dropped since the last such line.
func (r *recorder) tellDropped() {
	lines := r.queue.untoldLines()
	if lines == 0 {
		return
	}
	if r.makeRoom() == nil && r.put(&line.Dropped{Head: line.Head{Event: line.EventDropped}, Lines: lines}) == nil {
		r.queue.tell(lines)
	}
}

// header writes the first line of a file.
func (r *recorder) header() error {
	err := r.put(&line.Trace{
		Head: line.Head{Event: line.EventTrace}, Schema: line.Schema, Version: version(),
		Process: r.process, Part: r.part + 1, Texts: string(r.texts),
	})
	if err == nil {
		r.part++
		r.hasHeader = true
	}
	return err
}

// head returns the head of a line about an agent, which has no name there if it is the first of its
// session.
func (r *recorder) head(key core.SessionKey, at time.Time, ref callRef) line.Head {
	h := line.Head{Time: at, Session: key.Session, Agent: key.Agent, Turn: ref.turn, Call: ref.call, Fork: ref.fork}
	first, ok := r.first.Get(key.Session)
	if a, known := r.agents.Get(key); !ok && !(known && a.isSubagent) && key.Agent != "" && !strings.Contains(key.Agent, forkMark) {
		first = key.Agent
		r.first.Put(key.Session, first, 1)
	}
	if key.Agent == first {
		h.Agent = ""
	}
	return h
}

// forkMark is in the names of agents that are forks.
const forkMark = "/fork:"

// makeRoom begins a new file if the current one is full, and writes the header of a file that has none.
func (r *recorder) makeRoom() error {
	if (r.hasHeader || r.part == 0) && r.out.isFull() && r.out.rotate() == nil { // if it fails, the file becomes larger
		r.hasHeader, r.known = false, map[string]bool{}
		for _, v := range r.views.All() {
			v.written = nil
		}
	}
	if r.hasHeader {
		return nil
	}
	return r.header()
}

// add writes a line, and counts it as dropped if that fails.
func (r *recorder) add(l line.Line) {
	err := r.makeRoom()
	if err == nil {
		err = r.put(l)
	}
	if err != nil {
		r.queue.drop(1, err)
	}
}

// put numbers and writes a line.
func (r *recorder) put(l line.Line) error {
	h := l.Header()
	h.V, h.Seq = line.Version, r.seq+1
	if h.Time.IsZero() {
		h.Time = time.Now()
	}
	h.Time = h.Time.UTC()
	b := r.scratch[:0]
	if r.out.isTorn() {
		b = append(b, '\n')
	}
	b, err := line.Append(b, l)
	if err != nil {
		return err
	}
	if cap(b) <= maxScratch {
		r.scratch = b
	}
	if r.ctx.Err() != nil {
		return cmp.Or(r.failed, errEnd)
	}
	n, err := r.out.write(r.ctx, b)
	if n == len(b) {
		r.seq++
		r.failed = nil
		return nil
	}
	r.failed = cmp.Or(err, io.ErrShortWrite)
	return r.failed
}

// version returns the version of Satchel in this program, or "devel".
func version() string {
	const module = "github.com/satchel-go/satchel"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module && m.Version != "" && m.Version != "(devel)" && m.Version != "v0.0.0" {
			return m.Version
		}
	}
	return "devel"
}
