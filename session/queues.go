package session

import (
	"context"
	"hash/crc32"
	"time"

	"github.com/satchel-go/satchel/core"
)

// Queues implement [Queuer] for the updates of one process. The zero value is not
// ready: use [NewQueues].
type Queues struct {
	places [64]chan struct{} // by hash of the key; each holds one place
}

// NewQueues returns queues in which nobody waits.
func NewQueues() *Queues {
	q := &Queues{}
	for i := range q.places {
		q.places[i] = make(chan struct{}, 1)
	}
	return q
}

// maxQueue bounds the wait in a queue. Without a bound, a change that updates
// another record of the same queue would wait for itself.
const maxQueue = time.Second

// Queue implements [Queuer].
func (q *Queues) Queue(ctx context.Context, key core.SessionKey) (leave func()) {
	place := q.places[crc32.ChecksumIEEE([]byte(key.Session+"/"+key.Agent))%uint32(len(q.places))]
	timer := time.NewTimer(maxQueue)
	defer timer.Stop()
	select {
	case place <- struct{}{}:
		return func() { <-place }
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil
}
