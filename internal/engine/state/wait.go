package state

import (
	"context"
	"time"
)

// earlierCallTimeout is how long a call waits for an earlier one that is not open yet. It is
// long enough for calls that are started together. It ends the wait if the framework or the
// host has dropped the earlier call.
const earlierCallTimeout = 2 * time.Second

// Waits reports whether the response has a call before this one that Wait would
// wait for.
func (p *Place) Waits() bool {
	if p == nil {
		return false
	}
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	for _, earlier := range p.in.places {
		if earlier == p {
			return false
		}
		if earlier.made.Changes || earlier.made.Ordered && p.made.Ordered {
			return true
		}
	}
	return false
}

// WaitForChanges returns when every earlier call of the response that changes what is loaded
// has ended or settled. Denied, failed and interrupted calls count as ended. missed reports
// that such a call has not begun and may still come. The error is that of ctx.
func (p *Place) WaitForChanges(ctx context.Context) (missed bool, err error) {
	return p.wait(ctx, false)
}

// Wait is WaitForChanges for a call that is about to be executed: if its own
// order counts, it also waits for the earlier calls of which that is true.
func (p *Place) Wait(ctx context.Context) (missed bool, err error) {
	return p.wait(ctx, p != nil && p.made.Ordered)
}

func (p *Place) wait(ctx context.Context, ordered bool) (missed bool, err error) {
	if p == nil {
		return false, nil
	}
	for _, earlier := range p.in.places { // the calls of a response never change
		if earlier == p {
			break
		}
		if earlier.made.Changes || earlier.made.Ordered && ordered {
			until := earlier.settled
			if earlier.made.Ordered && ordered {
				until = earlier.done
			}
			came, err := earlier.comes(ctx, until)
			if err != nil {
				return false, err
			}
			missed = missed || earlier.made.Changes && !came
		}
	}
	return missed, nil
}

// comes waits until the call has ended, or settled, and reports whether the call came
// at all.
func (p *Place) comes(ctx context.Context, until <-chan struct{}) (came bool, err error) {
	for {
		select {
		case <-until:
			return !p.wasDropped(), nil
		default:
		}
		select {
		case <-until:
			return !p.wasDropped(), nil
		case <-ctx.Done():
			return false, ctx.Err()
		case <-p.in.after(earlierCallTimeout):
		}
		if !p.isExpected() {
			return false, nil
		}
	}
}

func (p *Place) wasDropped() bool {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	return p.dropped
}

// isExpected reports whether somebody holds the call, and so will end it.
func (p *Place) isExpected() bool {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	return p.opened || p.begun
}
