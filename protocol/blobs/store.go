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

// The errors of stores, wrapped with what they are about.
var (
	// ErrUnknown: the tenant has no such blob, or it has expired.
	ErrUnknown = errors.New("unknown blob")
	// ErrTooLarge: a blob is larger than its limit.
	ErrTooLarge = errors.New("blob too large")
	// ErrQuota: the tenant has no room left.
	ErrQuota = errors.New("blob quota exceeded")
	// ErrDamaged: a blob is not what was written.
	ErrDamaged = errors.New("blob damaged")
)

// Info is what is known of a blob.
type Info struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"` // MIME type, as it was given
	Size    int64     `json:"size"`
	SHA256  string    `json:"sha256"`  // lower-case hex
	Expires time.Time `json:"expires"` // zero: never
}

// HasExpired reports whether a blob has expired at a time.
func (i Info) HasExpired(now time.Time) bool { return !i.Expires.IsZero() && !i.Expires.After(now) }

// Usage is what a tenant has, expired blobs included until they are swept.
type Usage struct {
	Bytes int64
	Blobs int
}

// Store keeps blobs. All methods may be called concurrently. A blob never
// changes, and exists only when it is complete: a crash leaves all of it or
// nothing. Equal contents are separate blobs, because sharing would tell who has
// the same. A blob of another tenant is unknown.
type Store interface {
	// Create stores what r has, at most limit bytes, else ErrTooLarge; the room is
	// taken from the tenant's before it is used, else ErrQuota. After an error, of
	// r too, nothing is kept. The zero time is never.
	Create(ctx context.Context, tenant, kind string, r io.Reader, limit int64, expires time.Time) (Info, error)
	// Stat returns what is known of a blob; ErrUnknown.
	Stat(ctx context.Context, tenant, id string) (Info, error)
	// Open reads length bytes from offset on, to the end where length is negative or
	// goes beyond it. A read of the whole blob ends with ErrDamaged where that is
	// not what was written; ranges are not checked.
	Open(ctx context.Context, tenant, id string, offset, length int64) (io.ReadCloser, Info, error)
	// Delete removes a blob; ErrUnknown.
	Delete(ctx context.Context, tenant, id string) error
	// List returns blobs of a tenant that have not expired, ordered by id, at most limit of
	// them and only those after an id; "" is before all. What another process has written is
	// listed after the next Sweep at the latest.
	List(ctx context.Context, tenant, after string, limit int) ([]Info, error)
	// Usage says what a tenant has.
	Usage(ctx context.Context, tenant string) (Usage, error)
	// Sweep removes what has expired at the time, and what crashes have left, and
	// returns how many blobs went.
	Sweep(ctx context.Context, now time.Time) (int, error)
}

// prefix begins every id.
const prefix = "blob:"

const idLength = 26

var alphabet = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewID returns a random id: "blob:" and 26 letters of base32.
func NewID() string {
	var b [17]byte
	_, _ = rand.Read(b[:]) // never fails
	return prefix + alphabet.EncodeToString(b[:])[:idLength]
}

// CheckID reports an id that no store gives out; the error is ErrUnknown.
func CheckID(id string) error {
	rest, ok := strings.CutPrefix(id, prefix)
	if !ok || len(rest) != idLength || strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz234567") != "" {
		return unknown(id)
	}
	return nil
}

func unknown(id string) error { return fmt.Errorf("%w %q", ErrUnknown, id) }
