package artifacts

import (
	"errors"
	"fmt"
)

// ErrQuota reports that a session has no room for an artifact, because it has
// reached its [Quota]. Other sessions are not affected.
var ErrQuota = errors.New("quota of the session is reached")

// Quota bounds what one session keeps. A zero field means the default, a negative
// one no bound. The defaults are 256 MiB and 1,000 versions.
type Quota struct {
	// Bytes counts the contents as they are read, including the holes of sparse
	// files.
	Bytes int64
	// Versions counts the versions of all names.
	Versions int
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
