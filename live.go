package satchel

import (
	"container/list"
	"slices"
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
)

// maxLives bounds how many sessions a runtime has at hand at once. One that is
// dropped loses only what can be made again from its record.
const maxLives = 10_000

// life is what a runtime keeps in memory of one agent in one session: nothing
// that the record does not hold too, but for the order of calls under way.
type life struct {
	mu sync.Mutex
	// content belongs to the deliveries of rec.
	rec     *session.Record
	content *processors.Content
	// user and hash are the last user message that was hashed.
	user, hash string
	// closed: the model has answered without a call since the turn began.
	closed bool
	// hidden are the calls whose content the last request did not show.
	hidden []int
	// response are the calls of the last response.
	response []*pendingCall
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
	l.hidden = calls
}

func (l *life) isHidden(call int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.hidden, call)
}

// lives finds the life of a key, making one where there is none.
type lives struct {
	mu    sync.Mutex
	limit int
	order *list.List // of living, most recent first
	index map[core.SessionKey]*list.Element
}

type living struct {
	key  core.SessionKey
	life *life
}

func newLives(limit int) *lives {
	return &lives{limit: limit, order: list.New(), index: make(map[core.SessionKey]*list.Element)}
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
		delete(l.index, l.order.Remove(l.order.Back()).(living).key)
	}
	return one
}

// end forgets every agent of a session.
func (l *lives) end(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for e := l.order.Front(); e != nil; {
		next := e.Next()
		if key := e.Value.(living).key; key.Session == session {
			delete(l.index, key)
			l.order.Remove(e)
		}
		e = next
	}
}
