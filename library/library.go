package library

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/warnlog"
	"github.com/satchel-go/satchel/library/internal/listeners"
	"github.com/satchel-go/satchel/skillmd"
)

// Library is a skill library over a store. It is safe for concurrent use. Make one
// with [New].
type Library struct {
	config
	store Store

	mu        sync.Mutex
	tenants   map[string]*tenantHeads
	listeners listeners.Listeners // of edits by this library
}

// Option configures a [Library].
type Option func(*config) error

type config struct {
	clock   func() time.Time
	logger  *slog.Logger
	limits  Limits
	keep    int
	plugins []*plugin
}

// withClock sets the clock of the library. The default is time.Now.
func withClock(now func() time.Time) Option {
	return func(c *config) error {
		c.clock = now
		return nil
	}
}

// WithLogger sets the logger for plugins whose skills cannot be listed. The default is
// slog.Default.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) error {
		c.logger = logger
		return nil
	}
}

// WithLimits sets the bounds of skills. A field below 1 keeps its default.
func WithLimits(limits Limits) Option {
	return func(c *config) error {
		c.limits = limits
		return nil
	}
}

// WithKeep sets how many of the newest revisions of each skill are kept. The revision that is
// served and the one that a person approved last are kept too. The default, 0, keeps all. The
// audit keeps the entries of revisions that are removed.
func WithKeep(revisions int) Option {
	return func(c *config) error {
		if revisions < 0 {
			return fmt.Errorf("%w: WithKeep: %d", ErrInvalid, revisions)
		}
		c.keep = revisions
		return nil
	}
}

// New returns a library over a store.
func New(store Store, opts ...Option) (*Library, error) {
	if store == nil {
		return nil, fmt.Errorf("%w: New: nil store", ErrInvalid)
	}
	l := &Library{store: store, config: config{clock: time.Now, logger: warnlog.New()}, tenants: map[string]*tenantHeads{}}
	for _, o := range opts {
		if err := o(&l.config); err != nil {
			return nil, err
		}
	}
	l.limits = l.limits.withDefaults()
	return l, nil
}

// tenantHeads keeps the heads of a tenant that were read last.
type tenantHeads struct {
	mu     sync.Mutex
	seq    int64
	heads  map[string]*parsedHead
	owners map[string]bool // the subjects who own private skills
}

// tenant returns the heads of a tenant that were read last, without reading the store.
func (l *Library) tenant(tenant string) *tenantHeads {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.tenants[tenant]
	if s == nil {
		s = &tenantHeads{heads: map[string]*parsedHead{}, owners: map[string]bool{}}
		l.tenants[tenant] = s
	}
	return s
}

func (s *tenantHeads) head(id string) *parsedHead {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heads[id]
}

func (s *tenantHeads) owns(subject string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owners[subject]
}

// parsedHead is a head with its front matter parsed. It never changes.
type parsedHead struct {
	Head
	skill core.Skill
}

// heads reads the changed heads of a tenant and returns all.
func (l *Library) heads(ctx context.Context, tenant string) (map[string]*parsedHead, error) {
	s := l.tenant(tenant)
	s.mu.Lock()
	defer s.mu.Unlock()
	changed, seq, err := l.store.Heads(ctx, tenant, s.seq)
	if err == nil && seq < s.seq { // a backup was restored, or a replica without the last changes took over
		s.seq, s.heads = 0, map[string]*parsedHead{}
		changed, seq, err = l.store.Heads(ctx, tenant, 0)
	}
	if err != nil {
		return nil, err
	}
	if len(changed) > 0 {
		next := make(map[string]*parsedHead, len(s.heads)+len(changed))
		maps.Copy(next, s.heads)
		for _, h := range changed {
			next[h.ID] = &parsedHead{Head: h, skill: frontOf(h.Front, h.Name)}
			if h.Plugin == "" && !h.Shared {
				s.owners[h.Owner] = true
			}
		}
		s.heads = next
	}
	s.seq = max(s.seq, seq)
	return s.heads, nil
}

func frontOf(text []byte, name string) core.Skill {
	doc, _, err := skillmd.Parse(text)
	if err != nil {
		return core.Skill{Name: name}
	}
	return doc.Skill
}

// Ref names a skill, or a version of it.
type Ref struct {
	// Skill is a canonical id or a name.
	Skill string
	// Version is "v3", a versionRef, or "base" for the version in a plugin. "" is the current
	// version.
	Version string
}

// Descriptor describes a version of a skill without its text.
type Descriptor struct {
	ID          string // canonical
	Source      string // "db" or "plugin"
	Name        string
	DisplayName string
	Description string
	Plugin      *Plugin // of a plugin skill, with the installed version
	Editable    bool    // the actor may edit the skill
	// ModelInvocation reports that a model may start the skill.
	ModelInvocation bool
	VersionRef      string
	State           string // as in [Head]
	// Reviewed reports that a person made or approved this version.
	Reviewed bool
	// Outdated reports that the plugin was upgraded: its text is not the one that the overlay
	// was made from.
	Outdated bool
	Owner    string
	Shared   bool
	// Front is the front matter. If the version is not reviewed, Front.Repaired is true and
	// the metadata ask for no secrets.
	Front core.Skill
}

// refOf returns the versionRef of a revision.
func refOf(version int, digest string) string { return fmt.Sprintf("v%d-%.12s", version, digest) }

// describe completes the descriptor d with the fields of front.
func describe(d Descriptor, front core.Skill) Descriptor {
	d.Description, d.ModelInvocation = front.Description, !front.Hidden
	d.DisplayName = cmp.Or(front.Metadata["displayName"], d.Name)
	d.Front = front
	if !d.Reviewed {
		d.Front.Repaired = true
		if _, asks := front.Metadata["secrets"]; asks {
			d.Front.Metadata = maps.Clone(front.Metadata)
			delete(d.Front.Metadata, "secrets")
		}
	}
	return d
}

// digestOf returns the digest of a skill's files.
func digestOf(files []File) string { return sumOf(listingOf(files)) }

func listingOf(files []File) []byte {
	var b []byte
	for _, f := range slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Path, b.Path) }) {
		b = fmt.Appendf(b, "%s\x00%s\n", f.Path, f.Digest)
	}
	return b
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// newID returns a new id. Later ids sort after earlier ones.
func (l *Library) newID() string {
	var b [20]byte // four zeros, 48 bits of the time and 80 at random
	binary.BigEndian.PutUint64(b[2:], uint64(l.clock().UnixMilli()))
	_, _ = rand.Read(b[10:]) // never fails
	return "db:" + idEncoding.EncodeToString(b[:])[6:]
}

var idEncoding = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// now returns the time in microseconds, as stores keep it.
func (l *Library) now() time.Time { return l.clock().UTC().Truncate(time.Microsecond) }

// isOwn reports whether err comes from a rule of this package, not from the store.
func isOwn(err error) bool {
	var own *Error
	return errors.As(err, &own) || errors.Is(err, ErrUnknown)
}
