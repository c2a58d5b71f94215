package satchel

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
)

// maxLives bounds how many sessions a runtime has at hand at once. One that is
// dropped loses only what can be made again from its record.
const maxLives = 10_000

// Bounds of the attached files that are at hand: how many of one request, and
// of how many agents. They may be large, the next request of an agent brings
// them again, and they are needed between a request and the calls of its answer
// only, so it is the longest unused that go.
const (
	maxFiles   = 1000
	maxHolders = 1000
)

// life is what a runtime keeps in memory of one agent in one session: nothing
// that the record does not hold too, but for the order of calls under way and
// the files that users attached.
type life struct {
	mu sync.Mutex
	// content belongs to the deliveries of rec.
	rec     *session.Record
	content *processors.Content
	// user and hash are the last user message that was hashed.
	user, hash string
	// closed: the model has answered without a call since the turn began.
	closed bool
	// hidden are the calls whose content the last request did not show, sent is
	// when that was.
	hidden []int
	sent   time.Time
	// response are the calls of the last response, nil where this process has
	// seen none. tidy: the record holds no others of one before it.
	response []*pendingCall
	tidy     bool
	// tools are the names of those that the last request offered.
	tools []string
	// files are those of the last request.
	files []core.File
	// held is the place among the holders of files; it is guarded by lives.mu.
	held *list.Element
	// guard compares requests, where the host wants that; watched is its place
	// among the guards. Both are guarded by lives.mu.
	guard   *processors.PrefixGuard
	watched *list.Element
}

// shown returns the rendered content of rec, rendering it only if the
// deliveries have changed.
func (l *life) shown(rec *session.Record, text func(string) (string, error)) (*processors.Content, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.content != nil && (l.rec == rec || slices.EqualFunc(l.rec.Deliveries, rec.Deliveries, sameDelivery)) {
		l.rec = rec
		return l.content, nil
	}
	c, err := processors.NewContent(rec, text)
	if err != nil {
		return nil, err
	}
	l.rec, l.content = rec, c
	return c, nil
}

// sameDelivery reports whether two deliveries render to the same text.
func sameDelivery(a, b session.Delivery) bool {
	return a.Call == b.Call && a.Skill == b.Skill && a.Digest == b.Digest && a.Body == b.Body &&
		a.Supersedes == b.Supersedes && slices.Equal(a.Docs, b.Docs)
}

func (l *life) mark(text string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hash == "" || l.user != text {
		l.user, l.hash = text, processors.MarkText(text)
	}
	return l.hash
}

func (l *life) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

func (l *life) close(closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = closed
}

func (l *life) hide(calls []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hidden, l.sent = calls, time.Now()
}

func (l *life) isHidden(call int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.hidden, call)
}

func (l *life) offer(tools []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tools = tools
}

func (l *life) offered() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tools
}

// responded are the calls of the last response, in order.
func (l *life) responded() []core.ToolCall {
	l.mu.Lock()
	defer l.mu.Unlock()
	calls := make([]core.ToolCall, 0, len(l.response))
	for _, p := range l.response {
		calls = append(calls, p.call)
	}
	return calls
}

// attached are the files of the last request; they must not be changed.
func (l *life) attached() []core.File {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.files
}

func (l *life) attach(files []core.File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files = files
}

// lives finds the life of a key, making one where there is none.
type lives struct {
	mu    sync.Mutex
	limit int
	order *list.List // of living, most recent first
	index map[core.SessionKey]*list.Element
	// holders are the lives that have files, most recent first.
	holders *list.List
	// watched are the lives that have a guard, most recent first.
	watched *list.List
}

type living struct {
	key  core.SessionKey
	life *life
}

func newLives(limit int) *lives {
	return &lives{limit: limit, order: list.New(), index: make(map[core.SessionKey]*list.Element), holders: list.New(), watched: list.New()}
}

func (l *lives) of(key core.SessionKey) *life {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.index[key]; ok {
		l.order.MoveToFront(e)
		return e.Value.(living).life
	}
	one := &life{}
	l.index[key] = l.order.PushFront(living{key, one})
	for l.order.Len() > l.limit {
		oldest := l.order.Remove(l.order.Back()).(living)
		delete(l.index, oldest.key)
		l.release(oldest.life)
		l.unwatch(oldest.life)
	}
	return one
}

// hold keeps the files of a request, the newest where there are too many, in
// the place of those before.
func (l *lives) hold(one *life, files []core.File) {
	files = files[max(0, len(files)-maxFiles):]
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case len(files) == 0:
		l.release(one)
		return
	case one.held == nil:
		one.held = l.holders.PushFront(one)
	default:
		l.holders.MoveToFront(one.held)
	}
	one.attach(files)
	if l.holders.Len() > maxHolders {
		l.release(l.holders.Back().Value.(*life))
	}
}

// release lets the files of a life go. l.mu is held.
func (l *lives) release(one *life) {
	if one.held == nil {
		return
	}
	l.holders.Remove(one.held)
	one.held = nil
	one.attach(nil)
}

// end forgets every agent of a session.
func (l *lives) end(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for e := l.order.Front(); e != nil; {
		next := e.Next()
		if one := e.Value.(living); one.key.Session == session {
			delete(l.index, one.key)
			l.order.Remove(e)
			l.release(one.life)
			l.unwatch(one.life)
		}
		e = next
	}
}
