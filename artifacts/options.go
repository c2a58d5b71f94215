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
	testClock func() time.Time // nil is time.Now
}

// WithQuota sets what each session may keep. A Save beyond that fails with [ErrQuota], stores
// nothing and uses up no version.
func WithQuota(q Quota) Option {
	return func(c *config) error { c.quota = q; return nil }
}

// WithRetention removes versions that are older than d, when the store is opened and later
// during Saves in any session, at most once in a tenth of d. 0, the default, keeps everything
// until its session ends.
func WithRetention(d time.Duration) Option {
	return func(c *config) error { c.retention = d; return nil }
}

// WithSync sets whether an acknowledged Save or End has reached the disk (the default) or only
// the operating system. Without it a loss of power may undo or damage the latest saves; a
// damaged version is reported as [ErrDamaged].
func WithSync(sync bool) Option {
	return func(c *config) error { c.sync = sync; return nil }
}

// WithLogger sets where damaged versions and leftovers that cannot be removed are reported.
// The default is slog.Default at the time of OpenDirectory.
func WithLogger(log *slog.Logger) Option {
	return func(c *config) error {
		if log == nil {
			return errors.New("logger is nil")
		}
		c.log = log
		return nil
	}
}

// clock is the time of a store, and when it last looked for old versions.
type clock struct {
	now func() time.Time // of tests; nil is time.Now

	pruning sync.Mutex
	pruned  time.Time
}

// time returns the time for a version that is being saved, as precisely as JSON keeps it.
func (c *clock) time() time.Time {
	now := time.Now
	if c.now != nil {
		now = c.now
	}
	return now().UTC().Truncate(time.Millisecond)
}

// due reports whether versions from before a time must be removed now.
func (c *clock) due(retention time.Duration) (before time.Time, due bool) {
	if retention <= 0 {
		return time.Time{}, false
	}
	c.pruning.Lock()
	defer c.pruning.Unlock()
	now := c.time()
	if !c.pruned.IsZero() && now.Sub(c.pruned) < retention/10 {
		return time.Time{}, false
	}
	c.pruned = now
	return now.Add(-retention), true
}
