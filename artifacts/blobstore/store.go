// Package blobstore stores artifacts in a bucket of S3 or a compatible service, Google Cloud
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
// times at most. Objects that a killed process left are invisible, but count for the quota of
// their session until [Store.Sweep] removes them.
type Store struct {
	config
	bucket *blob.Bucket

	mu           sync.Mutex
	descriptions *lru.Cache[string, cachedDescription] // by key
}

var _ artifacts.Store = (*Store)(nil)

// Option configures [Open].
type Option func(*config) error

type config struct {
	prefix string
	quota  artifacts.Quota
	cache  int
}

// WithPrefix sets the prefix of the keys of all objects. The default is "".
func WithPrefix(prefix string) Option {
	return func(c *config) error { c.prefix = prefix; return nil }
}

// WithCache sets how many descriptions of versions are cached in memory. The default is 10,000.
func WithCache(n int) Option {
	return func(c *config) error {
		if n < 1 {
			return fmt.Errorf("cache of %d descriptions: want 1 or more", n)
		}
		c.cache = n
		return nil
	}
}

// WithQuota limits what the store keeps for each session.
func WithQuota(q artifacts.Quota) Option {
	return func(c *config) error { c.quota = q; return nil }
}

// Open returns a store in a bucket. The caller still has to close the bucket. Open writes an
// object twice to check that the bucket refuses the second write, and removes it. It refuses
// buckets that are directories, because they do not refuse it.
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
	s.descriptions = lru.New[string, cachedDescription](s.cache, nil)
	if err := s.probe(ctx); err != nil {
		return nil, fmt.Errorf("open blob store: %w", err)
	}
	return s, nil
}

// probe checks that the bucket refuses to overwrite a claimed object.
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

// root returns the prefix of all keys of a session.
func (s *Store) root(session string) string {
	sum := sha256.Sum256([]byte(session))
	name := hex.EncodeToString(sum[:16])
	return s.prefix + name[:2] + "/" + name + "/"
}

// Directories below the root of a session. All but endDir are below the number of a generation.
const (
	endDir     = "end/" // marks of ended generations
	contentDir = "c/"   // contents
	versionDir = "v/"   // descriptions
	removedDir = "r/"   // marks of removed versions
)

// nameDir returns the directory of the versions of a name, below versionDir or removedDir.
func nameDir(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16]) + "/"
}

func versionName(v int) string { return fmt.Sprintf("%010d", v) }

// parseNumber parses a number that consists of digits only.
func parseNumber(text string) (int, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// object is an object of a listing. Its name is the key below the listed prefix.
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

// currentGeneration returns the number of the current generation. Each end of the session
// leaves a mark and begins the next one.
func (s *Store) currentGeneration(ctx context.Context, root string) (int, error) {
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
