package state

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// Update loads the record of key, calls change to make the next one, and saves it. After a
// conflict it starts again, so that no update is lost. Any other error ends it, also one
// that wraps [session.ErrUncertain]. change may run several times. It returns nil or its
// argument if nothing changed; then nothing is saved. Update returns the record that is
// stored afterwards.
func (r *Records) Update(ctx context.Context, key core.SessionKey, change func(*Record) (*Record, error)) (*Record, error) {
	return r.update(ctx, key, nil, change)
}

// UpdateFrom is Update for a caller that has just loaded the record: the first try begins
// with rec, and only a try after a conflict loads it again.
func (r *Records) UpdateFrom(ctx context.Context, rec *Record, change func(*Record) (*Record, error)) (*Record, error) {
	return r.update(ctx, rec.Key, rec, change)
}

func (r *Records) update(ctx context.Context, key core.SessionKey, rec *Record, change func(*Record) (*Record, error)) (*Record, error) {
	queued := false
	for try := 0; ; try++ {
		if err := pause(ctx, try); err != nil {
			return nil, err
		}
		if try > 0 && !queued {
			if leave := queue(ctx, key); leave != nil {
				queued = true
				defer leave()
			}
		}
		if try > 0 || rec == nil {
			var err error
			if rec, err = r.Load(ctx, key); err != nil {
				return nil, fmt.Errorf("load session %q: %w", key.Session, err)
			}
		}
		next, err := change(rec)
		if err != nil {
			return nil, err
		}
		if next == nil || next == rec {
			return rec, nil
		}
		saved, err := r.Save(ctx, next)
		if errors.Is(err, session.ErrConflict) && !errors.Is(err, session.ErrUncertain) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("save session %q: %w", key.Session, err)
		}
		return saved, nil
	}
}

// pause waits before a try. Before the first two it does not wait; later it waits for a random
// time of up to 32 ms that grows with each try. So writers in several processes do not keep
// disturbing each other. It returns early with the error of ctx.
func pause(ctx context.Context, try int) error {
	if try < 2 {
		return ctx.Err()
	}
	limit := 250 * time.Microsecond << min(try-2, 7)
	timer := time.NewTimer(rand.N(limit))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return ctx.Err()
	}
}

// queues let the updates of one record in this process wait for each other after a
// conflict, by a hash of its key. Without them n updates at once need n tries each.
var queues = func() (all [64]chan struct{}) {
	for i := range all {
		all[i] = make(chan struct{}, 1)
	}
	return all
}()

// queue waits for the earlier updates, for maxQueue at most: correctness never depends on
// it. It returns nil if they have not left by then.
func queue(ctx context.Context, key core.SessionKey) (leave func()) {
	place := queues[crc32.ChecksumIEEE([]byte(key.Session+"/"+key.Agent))%uint32(len(queues))]
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
