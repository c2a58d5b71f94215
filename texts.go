package satchel

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/satchel-go/satchel/catalog"
)

// maxTexts bounds the pinned texts that a runtime keeps in memory, in bytes.
const maxTexts = 64 << 20

// texts keeps pinned texts by digest, so that a view reads nothing from the
// store. The least recently used go first.
type texts struct {
	mu    sync.Mutex
	limit int
	size  int
	order *list.List // of entry, most recent first
	index map[string]*list.Element
}

type entry struct{ digest, text string }

func newTexts(limit int) *texts {
	return &texts{limit: limit, order: list.New(), index: make(map[string]*list.Element)}
}

func (t *texts) get(digest string) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.index[digest]
	if !ok {
		return "", false
	}
	t.order.MoveToFront(e)
	return e.Value.(entry).text, true
}

func (t *texts) put(digest, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.index[digest]; ok {
		return
	}
	t.index[digest] = t.order.PushFront(entry{digest, text})
	t.size += len(text)
	for t.size > t.limit && t.order.Len() > 1 {
		last := t.order.Back()
		old := t.order.Remove(last).(entry)
		delete(t.index, old.digest)
		t.size -= len(old.text)
	}
}

// digested gives a text of the runtime's own the form of one from a catalog.
func digested(text string) catalog.Content {
	sum := sha256.Sum256([]byte(text))
	return catalog.Content{Text: text, Digest: hex.EncodeToString(sum[:])}
}
