package artifacts

import (
	"errors"
	"log/slog"
	"sync"
	"time"
)

// Option configures [OpenDirectory].
type Option func(*config) error

type config struct {
	quota     Quota
	retention time.Duration
	sync      bool
	log       *slog.Logger
	testClock func() time.Time // nil means time.Now
}

// WithQuota limits what the store keeps for each session. A Save beyond it fails with
// [ErrQuota], stores nothing and uses up no version.
func WithQuota(q Quota) Option {
	return func(c *config) error { c.quota = q; return nil }
}

// WithRetention makes the store remove versions that are older than d: when it is opened, and
// during Saves in any session, at most once in a tenth of d. 0, the default, keeps everything
// until its session ends.
func WithRetention(d time.Duration) Option {
	return func(c *config) error { c.retention = d; return nil }
}

// WithSync sets whether an acknowledged Save or End has reached the disk (the default) or only
// the operating system. Without it a loss of power may undo or damage the latest saves;
// [ErrDamaged] reports a damaged version.
func WithSync(sync bool) Option {
	return func(c *config) error { c.sync = sync; return nil }
}

// WithLogger sets the log for damaged versions and for leftovers that cannot be removed. The
// default is slog.Default at the time of OpenDirectory.
func WithLogger(log *slog.Logger) Option {
	return func(c *config) error {
		if log == nil {
			return errors.New("logger is nil")
		}
		c.log = log
		return nil
	}
}

// clock tells the time, and remembers when the store last removed old versions.
type clock struct {
	now func() time.Time // set by tests; nil means time.Now

	mu        sync.Mutex
	lastPrune time.Time
}

// time returns the current time in UTC and whole milliseconds, as an Info contains it.
func (c *clock) time() time.Time {
	now := time.Now
	if c.now != nil {
		now = c.now
	}
	return now().UTC().Truncate(time.Millisecond)
}

// due reports whether a Save must remove old versions now, and those from before which time.
func (c *clock) due(retention time.Duration) (before time.Time, due bool) {
	if retention <= 0 {
		return time.Time{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.time()
	if !c.lastPrune.IsZero() && now.Sub(c.lastPrune) < retention/10 {
		return time.Time{}, false
	}
	c.lastPrune = now
	return now.Add(-retention), true
}
