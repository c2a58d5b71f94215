package blobs

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Errors that a [Store] wraps.
var (
	// ErrUnknown means that the tenant has no such blob, or that it has expired.
	ErrUnknown = errors.New("unknown blob")
	// ErrTooLarge means that a blob is larger than its limit.
	ErrTooLarge = errors.New("blob too large")
	// ErrQuota means that the tenant has no room left.
	ErrQuota = errors.New("blob quota exceeded")
	// ErrDamaged means that the content of a blob is not the one that was written.
	ErrDamaged = errors.New("blob damaged")
)

// Info describes a blob.
type Info struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"` // MIME type, as Create got it
	Size    int64     `json:"size"`
	SHA256  string    `json:"sha256"`  // lower-case hex
	Expires time.Time `json:"expires"` // zero: never
}

// HasExpired reports whether the blob has expired at a time.
func (i Info) HasExpired(now time.Time) bool { return !i.Expires.IsZero() && !i.Expires.After(now) }

// Usage is how much a tenant stores. Expired blobs count until Sweep removes them.
type Usage struct {
	Bytes int64
	Blobs int
}

// Store keeps blobs. All methods may be called concurrently. A blob never changes, and exists
// only when it is complete: a crash leaves all of it or nothing. Equal contents are separate
// blobs: otherwise a tenant could find out what others store. A blob of another tenant is unknown.
type Store interface {
	// Create stores the bytes of r, at most limit, as a blob that expires at a time; the zero
	// time is never. It counts each part for the quota before it stores it. The error wraps
	// ErrTooLarge or ErrQuota, or is that of r. After an error nothing is stored.
	Create(ctx context.Context, tenant, kind string, r io.Reader, limit int64, expires time.Time) (Info, error)
	// Stat describes a blob. The error wraps ErrUnknown.
	Stat(ctx context.Context, tenant, id string) (Info, error)
	// Open returns a reader of length bytes from an offset. The reader ends at the end of the
	// blob if length is negative or too large. A read of the whole blob ends with ErrDamaged if
	// its digest is not the one of Info; ranges are not checked. The error wraps ErrUnknown.
	Open(ctx context.Context, tenant, id string, offset, length int64) (io.ReadCloser, Info, error)
	// Delete removes a blob. The error wraps ErrUnknown.
	Delete(ctx context.Context, tenant, id string) error
	// List returns at most limit blobs of a tenant that have not expired, ordered by id. It
	// begins after an id; "" is before all. It knows the blobs of another process after the
	// next Sweep at the latest.
	List(ctx context.Context, tenant, after string, limit int) ([]Info, error)
	// Usage returns how much a tenant stores.
	Usage(ctx context.Context, tenant string) (Usage, error)
	// Sweep removes blobs that have expired at a time, and files that a crash has left. It
	// returns the number of removed blobs.
	Sweep(ctx context.Context, now time.Time) (int, error)
}

// prefix begins every id.
const prefix = "blob:"

// idLength is the number of letters in an id: 130 random bits.
const idLength = 26

// letters is the alphabet of ids.
const letters = "abcdefghijklmnopqrstuvwxyz234567"

var encoding = base32.NewEncoding(letters).WithPadding(base32.NoPadding)

// NewID returns a random id: "blob:" and 26 letters of base32.
func NewID() string {
	var b [17]byte
	_, _ = rand.Read(b[:]) // never fails
	return prefix + encoding.EncodeToString(b[:])[:idLength]
}

// CheckID returns an error that wraps ErrUnknown if id does not have the form of NewID.
func CheckID(id string) error {
	rest, ok := strings.CutPrefix(id, prefix)
	if !ok || len(rest) != idLength || strings.Trim(rest, letters) != "" {
		return unknown(id)
	}
	return nil
}

func unknown(id string) error { return fmt.Errorf("%w %q", ErrUnknown, id) }
