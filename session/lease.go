package session

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrFenced reports that a holder no longer has its lease: it expired, or another
// holder has it now.
var ErrFenced = errors.New("the lease of the session is lost")

// ErrTTL reports that a lease was requested without a time to live.
var ErrTTL = errors.New("a lease needs a time to live of a millisecond or more")

// HeldError reports a lease that another holder has.
type HeldError struct{ Holder string }

func (e *HeldError) Error() string {
	return fmt.Sprintf("the lease of the session is held by %q", e.Holder)
}

// Leaser is a [Store] that decides who may write to the workspace of a session:
// one holder at a time. Records need no lease. A lease expires by the clock of
// the store and not by that of its holder; a holder must count from the time
// before it asked.
type Leaser interface {
	// Acquire takes the lease for ttl if nobody has it. The Fence of the new
	// lease is higher than all before it. If the same holder has the lease
	// already, it gets a new one and loses the old one, so a call whose answer
	// was lost can be repeated. If another holder has it, the error is a
	// [*HeldError], and that holder's next Renew reports Wanted.
	Acquire(ctx context.Context, session, holder string, ttl time.Duration) (Lease, error)

	// Renew extends the lease by its TTL from now on, and returns it with Wanted
	// as it is now. The error wraps [ErrFenced] if the lease is lost.
	Renew(ctx context.Context, l Lease) (Lease, error)

	// Release gives the lease back. If nobody has it any more that is no error.
	// If another holder has it, that holder keeps it and the error wraps
	// [ErrFenced].
	Release(ctx context.Context, l Lease) error
}

// Lease is the right to write to the workspace of a session for a limited time.
type Lease struct {
	Session, Holder string
	// Fence is higher than that of each earlier lease of the session: anything
	// written under a lower one is out of date.
	Fence int64
	TTL   time.Duration
	// Wanted reports that another holder has asked for the lease since it was
	// acquired.
	Wanted bool
}
