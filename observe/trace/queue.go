package trace

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/lru"
)

// Reasons for dropped lines.
var (
	errSlow    = errors.New("it is written more slowly than it grows")
	errBlocked = errors.New("a write does not return")
	errEnd     = errors.New("the time to write the rest was over")
)

// item is an event, a request or an answer that waits to be written.
type item struct {
	at time.Time
	// call is the number of the agent's latest call when this happened, or 0.
	call    int
	event   *core.Event
	request *core.ModelRequest
	answer  *core.ModelAnswer
	weight  int
}

// queue holds items between the goroutines of calls and the recorder.
type queue struct {
	wake chan struct{} // holds a value if there is something new

	mu    sync.Mutex
	items []item
	// count and bytes are of all items that the recorder has not finished.
	count, bytes int
	calls        *lru.Cache[core.SessionKey, int]
	// requests are the last request of each agent that has one in the queue.
	requests map[core.SessionKey]queuedRequest
	isClosed bool
	deadline time.Time // for what is queued, after close

	dropped int // lines
	untold  int // those of dropped that no line of the trace counts
	reason  error
	// isAbandoned reports that Close did not wait for the recorder.
	isAbandoned bool
}

type queuedRequest struct {
	last  *core.ModelRequest
	count int
}

func newQueue() *queue {
	return &queue{wake: make(chan struct{}, 1), calls: lru.New[core.SessionKey, int](maxNumbered, nil), requests: map[core.SessionKey]queuedRequest{}}
}

func (q *queue) addEvent(e *core.Event) {
	weight := eventSize(e)
	q.mu.Lock()
	defer q.mu.Unlock()
	call, _ := q.calls.Get(e.Key)
	q.add(item{at: e.Time, call: call, event: e, weight: weight})
}

// eventSize estimates the memory of an event.
func eventSize(e *core.Event) int {
	n := messageWeight + len(e.Prompt) + len(e.Detail) + len(e.Call.Arguments) + sizeOf(e.Docs) + sizeOf(e.Skills) + sizeOf(e.Named)
	if c := e.Command; c != nil {
		n += len(c.Command) + len(c.Limits)*stringWeight
		for i := range c.Files {
			n += stringWeight + len(c.Files[i].Path)
		}
	}
	return n
}

// sizeOf estimates the memory of a list of names.
func sizeOf(names []string) (n int) {
	for _, name := range names {
		n += stringWeight + len(name)
	}
	return n
}

// answerWeight estimates the memory of an answer.
func answerWeight(text string, calls []core.ToolCall) int {
	weight := messageWeight + len(text)
	for i := range calls {
		weight += len(calls[i].Arguments)
	}
	return weight
}

func (q *queue) addAnswer(a *core.ModelAnswer) {
	weight := answerWeight(a.Text, a.Calls)
	for i := range a.Alternatives {
		weight += answerWeight(a.Alternatives[i].Text, a.Alternatives[i].Calls)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	call, _ := q.calls.Get(a.Key)
	q.add(item{call: call, answer: a, weight: weight})
}

// addRequest numbers the request, also if the queue has no room for it. A runtime has numbered it already.
func (q *queue) addRequest(r *core.ModelRequest) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.isClosed {
		return
	}
	call, _ := q.calls.Get(r.Key)
	call = cmp.Or(r.ModelCall, call+1)
	q.calls.Put(r.Key, call, 1)
	queued := q.requests[r.Key]
	if q.add(item{call: call, request: r, weight: weightOf(r, queued.last)}) {
		q.requests[r.Key] = queuedRequest{r, queued.count + 1}
	}
}

// weightOf counts the bytes of the messages and files of a request that the one before does not have.
func weightOf(r, before *core.ModelRequest) int {
	weight := messageWeight
	for i := range r.Files {
		if before == nil || i >= len(before.Files) || !isSameFile(r.Files[i], before.Files[i]) {
			weight += r.Files[i].Size
		}
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		if before != nil && i < len(before.Messages) && isSame(m, &before.Messages[i]) {
			continue
		}
		weight += messageSize(m)
	}
	return weight
}

// messageSize estimates the memory of a message.
func messageSize(m *core.Message) int {
	n := messageWeight + len(m.Text)
	for i := range m.Calls {
		n += len(m.Calls[i].Arguments)
	}
	return n
}

// isSame reports whether a and b are the same for the model. It is fast if they share their
// strings.
func isSame(a, b *core.Message) bool {
	return a.Role == b.Role && a.Text == b.Text && a.CallID == b.CallID && slices.Equal(a.Calls, b.Calls)
}

// add queues an item, or counts it as dropped. The caller holds the lock.
func (q *queue) add(i item) bool {
	if q.isClosed {
		return false
	}
	// One item always fits, so that each message can be traced.
	if q.count > 0 && (q.count >= maxQueued || q.bytes+i.weight > maxQueuedBytes) {
		q.countDropped(1, errSlow)
		return false
	}
	if i.at.IsZero() {
		i.at = time.Now()
	}
	if i.weight >= longWeight && i.event == nil {
		prompt.ReadAhead()
	}
	q.items, q.count, q.bytes = append(q.items, i), q.count+1, q.bytes+i.weight
	q.notify()
	return true
}

func (q *queue) notify() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take returns all items. isLast reports that none will follow.
func (q *queue) take(space []item) (items []item, isLast bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	items, q.items = q.items, space[:0]
	return items, q.isClosed
}

// finish says that the recorder has worked on an item.
func (q *queue) finish(i *item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.count, q.bytes = q.count-1, q.bytes-i.weight
	if i.request == nil {
		return
	}
	if queued := q.requests[i.request.Key]; queued.count > 1 {
		q.requests[i.request.Key] = queuedRequest{queued.last, queued.count - 1}
	} else {
		delete(q.requests, i.request.Key)
	}
}

// hasRequest reports whether a request of an agent waits.
func (q *queue) hasRequest(key core.SessionKey) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.requests[key].count > 0
}

// isLate reports whether the time to write queued items is over.
func (q *queue) isLate() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.isClosed && time.Now().After(q.deadline)
}

func (q *queue) close(deadline time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.isClosed, q.deadline = true, deadline
	q.notify()
}

// drop counts lines that are not written. Only the first reason is kept.
func (q *queue) drop(lines int, reason error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.countDropped(lines, reason)
}

func (q *queue) countDropped(lines int, reason error) {
	if q.isAbandoned {
		return
	}
	q.dropped, q.untold = q.dropped+lines, q.untold+lines
	if q.reason == nil {
		q.reason = reason
	}
}

// abandon counts all items that are not finished as dropped.
func (q *queue) abandon(reason error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.countDropped(max(1, q.count), reason)
	q.isAbandoned = true
}

// lost returns how many lines were dropped, and why the first of them was.
func (q *queue) lost() (lines int, reason error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped, q.reason
}

// untoldLines returns how many dropped lines no line of the trace counts yet.
func (q *queue) untoldLines() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.untold
}

// tell says that a line counts dropped lines.
func (q *queue) tell(lines int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.untold -= lines
}
