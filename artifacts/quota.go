package artifacts

import (
	"errors"
	"fmt"
)

// ErrQuota reports that a session has no room for an artifact, because it has
// reached its [Quota]. Other sessions are not affected.
var ErrQuota = errors.New("quota of the session is reached")

// Quota limits what a store keeps for one session. A zero field means the default, a negative
// one no limit. The defaults are 256 MiB and 1,000 versions.
type Quota struct {
	// Bytes limits the length of all contents, including the holes of sparse files.
	Bytes int64
	// Versions limits the number of versions of all names.
	Versions int
}

// Check returns an error that wraps [ErrQuota] if a session with so many bytes in so many
// versions exceeds the quota.
func (q Quota) Check(bytes int64, versions int) error {
	if most := q.maxBytes(); most >= 0 && bytes > most {
		return fmt.Errorf("%w: %d bytes are more than %d", ErrQuota, bytes, most)
	}
	if most := q.maxVersions(); most >= 0 && versions > most {
		return fmt.Errorf("%w: it has %d versions", ErrQuota, most)
	}
	return nil
}

// Limit returns the smaller of limit and the bytes of the quota: what a Save may store at most.
// tooMuch is the error for longer content.
func (q Quota) Limit(limit int64) (smaller int64, tooMuch error) {
	if most := q.maxBytes(); most >= 0 && most < limit {
		return most, fmt.Errorf("%w: more than %d bytes", ErrQuota, most)
	}
	return limit, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
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
