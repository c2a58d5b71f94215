package artifacts

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrQuota reports that a session has no room for an artifact, because it has
// reached its [Quota]. Other sessions are not affected.
var ErrQuota = errors.New("quota of the session is reached")

// The default Quota; see [WithQuota].
const (
	defaultQuotaBytes    = 256 << 20
	defaultQuotaVersions = 1000
)

// Quota bounds what one session keeps. A zero field means the default, a negative
// one no bound.
type Quota struct {
	// Bytes counts the contents as they are read, including the holes of sparse
	// files.
	Bytes int64
	// Versions counts the versions of all names.
	Versions int
}

// Option configures either store of this package.
type Option interface {
	MemoryOption
	DirectoryOption
}

// MemoryOption configures [NewMemory].
type MemoryOption interface{ applyMemory(*Memory) }

// DirectoryOption configures [OpenDirectory].
type DirectoryOption interface{ applyDirectory(*Directory) error }

type (
	limitOption     func(*limits)
	memoryOption    func(*Memory)
	directoryOption func(*Directory) error
)

func (o limitOption) applyMemory(m *Memory) { o(&m.limits) }

func (o limitOption) applyDirectory(d *Directory) error { o(&d.limits); return nil }

func (o memoryOption) applyMemory(m *Memory) { o(m) }

func (o directoryOption) applyDirectory(d *Directory) error { return o(d) }

// WithQuota sets what each session may keep. A Save beyond that fails with
// [ErrQuota], stores nothing and uses up no version.
func WithQuota(q Quota) Option {
	return limitOption(func(l *limits) { l.quota = q })
}

// WithRetention removes versions that are older than d, when the store is opened
// and later during Saves in any session, at most once in a tenth of d. 0, the
// default, keeps everything until its session ends.
func WithRetention(d time.Duration) Option {
	return limitOption(func(l *limits) { l.retention = d })
}

// limits are the bounds that both stores have.
type limits struct {
	quota     Quota
	retention time.Duration
	now       func() time.Time

	mu     sync.Mutex
	pruned time.Time
}

// time returns the time for a version that is being saved, as precisely as JSON
// keeps it.
func (l *limits) time() time.Time {
	now := time.Now
	if l.now != nil {
		now = l.now
	}
	return now().UTC().Truncate(time.Millisecond)
}

// due reports whether versions from before a time must be removed now.
func (l *limits) due() (before time.Time, due bool) {
	if l.retention <= 0 {
		return time.Time{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.time()
	if !l.pruned.IsZero() && now.Sub(l.pruned) < l.retention/10 {
		return time.Time{}, false
	}
	l.pruned = now
	return now.Add(-l.retention), true
}

// Check fails with [ErrQuota] if a session with so many bytes in so many versions is beyond the
// quota.
func (q Quota) Check(bytes int64, versions int) error {
	if most := q.maxBytes(); most >= 0 && bytes > most {
		return fmt.Errorf("%w: %d bytes are more than %d", ErrQuota, bytes, most)
	}
	if most := q.maxVersions(); most >= 0 && versions > most {
		return fmt.Errorf("%w: it has %d versions", ErrQuota, most)
	}
	return nil
}

// Limit returns how many bytes a Save may store: the smaller of given and the quota. tooMuch is
// the error for content that is longer.
func (q Quota) Limit(given int64) (limit int64, tooMuch error) {
	if most := q.maxBytes(); most >= 0 && most < given {
		return most, fmt.Errorf("%w: more than %d bytes", ErrQuota, most)
	}
	return given, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, given)
}

func (q Quota) maxBytes() int64 {
	if q.Bytes == 0 {
		return defaultQuotaBytes
	}
	return q.Bytes
}

func (q Quota) maxVersions() int {
	if q.Versions == 0 {
		return defaultQuotaVersions
	}
	return q.Versions
}
