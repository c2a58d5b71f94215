// Package blobstore keeps artifacts in a bucket of S3 or a compatible service, Google Cloud
// Storage or Azure. Any number of hosts may use one bucket at the same time.
package blobstore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/internal/lru"
)

// Store is an artifacts.Store in a bucket. It is safe for concurrent use.
//
// A Save claims a version by a write that fails if the object exists, so versions have neither
// gaps nor duplicates. A request that the bucket answers with a conflict (409) is repeated, ten
// times at most. What a killed process leaves is invisible, and counts for the quota of its
// session until [Store.Sweep] removes it.
type Store struct {
	config
	bucket *blob.Bucket

	mu    sync.Mutex
	known *lru.Cache[string, knownDescription] // by key
}

var _ artifacts.Store = (*Store)(nil)

// Option configures [Open].
type Option func(*config) error

type config struct {
	prefix string
	quota  artifacts.Quota
	cache  int
}

// WithPrefix sets what the keys of all objects begin with. The default is "".
func WithPrefix(prefix string) Option {
	return func(c *config) error { c.prefix = prefix; return nil }
}

// WithCache sets how many descriptions of versions are kept in memory. The default is 10,000.
func WithCache(n int) Option {
	return func(c *config) error {
		if n < 1 {
			return fmt.Errorf("cache of %d descriptions: want 1 or more", n)
		}
		c.cache = n
		return nil
	}
}

// WithQuota sets what each session may keep.
func WithQuota(q artifacts.Quota) Option {
	return func(c *config) error { c.quota = q; return nil }
}

// Open returns a store in a bucket, which stays the caller's to close. It writes an object
// twice to see that the bucket refuses the second one, and removes it. Buckets that are
// directories are refused, because they cannot.
func Open(ctx context.Context, bucket *blob.Bucket, opts ...Option) (*Store, error) {
	if bucket == nil {
		return nil, errors.New("open blob store: bucket is nil")
	}
	s := &Store{bucket: bucket, config: config{cache: defaultCache}}
	for _, o := range opts {
		if err := o(&s.config); err != nil {
			return nil, fmt.Errorf("open blob store: %w", err)
		}
	}
	s.known = lru.New[string, knownDescription](s.cache, nil)
	if err := s.probe(ctx); err != nil {
		return nil, fmt.Errorf("open blob store: %w", err)
	}
	return s, nil
}

func (s *Store) probe(ctx context.Context) error {
	var file fs.FileInfo
	if s.bucket.As(&file) {
		return errors.New("file buckets cannot claim a version safely: use artifacts.OpenDirectory")
	}
	key := s.prefix + "probe/" + rand.Text()
	if err := s.claim(ctx, key, []byte("1")); err != nil {
		return err
	}
	err := s.claim(ctx, key, []byte("2"))
	deleteErr := s.remove(ctx, key)
	switch {
	case err == nil:
		return errors.New("bucket ignores If-None-Match")
	case gcerrors.Code(err) != gcerrors.FailedPrecondition:
		return err
	}
	return deleteErr
}

// root is where the objects of a session are.
func (s *Store) root(session string) string {
	sum := sha256.Sum256([]byte(session))
	name := hex.EncodeToString(sum[:16])
	return s.prefix + name[:2] + "/" + name + "/"
}

// Directories below the root of a session. Those of a generation are below its number.
const (
	endDir     = "end/"
	contentDir = "c/"
	versionDir = "v/"
	removedDir = "r/"
)

// versionsOf is where the versions of a name are, below the generation and a directory.
func versionsOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16]) + "/"
}

func versionName(v int) string { return fmt.Sprintf("%010d", v) }

// parseNumber reads a number of digits only.
func parseNumber(text string) (int, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// object is one of a listing, by its key below what was listed.
type object struct {
	name string
	size int64
	time time.Time
}

// list returns the objects below a prefix, in the order of their keys.
func (s *Store) list(ctx context.Context, prefix string) ([]object, error) {
	var all []object
	pages := s.bucket.List(&blob.ListOptions{Prefix: prefix})
	for {
		o, err := pages.Next(ctx)
		if err != nil {
			if isEnd(err) {
				return all, nil
			}
			return nil, err
		}
		all = append(all, object{strings.TrimPrefix(o.Key, prefix), o.Size, o.ModTime})
	}
}

// generation is the number of the current one: sessions that end leave a mark.
func (s *Store) generation(ctx context.Context, root string) (int, error) {
	marks, err := s.list(ctx, root+endDir)
	if err != nil {
		return 0, err
	}
	g := 0
	for _, m := range marks {
		if n, ok := parseNumber(m.name); ok {
			g = max(g, n+1)
		}
	}
	return g, nil
}

func generationDir(g int) string { return strconv.Itoa(g) + "/" }
