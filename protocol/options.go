package protocol

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/files/deps"
	"github.com/satchel-go/satchel/protocol/blobs"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
	"github.com/satchel-go/satchel/workspace"
)

// config holds the values of the options.
type config struct {
	sources      []catalog.Source
	createdDir   string
	executor     executor.Executor
	workspaces   workspace.Places
	dependencies *deps.Cache
	store        blobs.Store
	create       bool
	unsafeLocal  bool
	noRunsReason string
	limits       Limits
	auth         func(*http.Request) (Principal, error)
	allowUIDs    []int
	origins      []string
	hosts        []string
	addresses    []address
	logger       *slog.Logger
	observe      func(context.Context, Record)
	key          []byte
	grants       grants
	published    *published // nil unless skills are published without a token
}

// Limits bound a server. A zero field means its default.
type Limits struct {
	// Runs is how many runs the server has at once; the default is four for each processor.
	// Tenants that want them at the same time share them.
	Runs int
	// QueueWait is how long a run waits until it may begin; the default is 60 seconds.
	QueueWait time.Duration
	// Run bounds the resources of each run. Its timeout is ignored: each call sets one, and
	// the default is 5 minutes.
	Run executor.Limits
	// OutputBlobs is how many blobs a run may make; the default is 64.
	OutputBlobs int
	// BlobExpiry is how long the store keeps a blob whose call has no ttl_s, or that a run
	// makes. The default is 24 hours. A negative value means for ever.
	BlobExpiry time.Duration
}

// Option configures Open.
type Option func(*config) error

// errOption is wrapped by the error of Open for an invalid option.
var errOption = errors.New("invalid option")

// WithSkills adds sources of skills, such as those of source.Open. The server serves all versions
// of a skill. Of two skills with the same id and version it takes the first. It does not close the
// sources.
func WithSkills(sources ...catalog.Source) Option {
	return func(c *config) error { c.sources = append(c.sources, sources...); return nil }
}

// WithRemoteSkills adds the skills of another server that is not trusted, such as
// mcpsource.Source. Callers can read these skills, but neither execute nor mount them. The id of
// a skill is the label and the path of its URI, joined by dots: with the label "acme",
// "skill://team/pdf/SKILL.md" is "acme.team.pdf". A skill of another source with the same id
// hides it. Its files are fetched when a caller reads them.
func WithRemoteSkills(label string, source catalog.Source) Option {
	return func(c *config) error {
		c.sources = append(c.sources, skillset.Remote(label, source))
		return nil
	}
}

// WithCreatedSkills sets the directory of the skills that tenants create. Each tenant sees its
// own. Open makes the directory if it does not exist. Several servers may share it.
func WithCreatedSkills(dir string) Option {
	return func(c *config) error { c.createdDir = dir; return nil }
}

// WithExecutor sets the executor that runs skills and code. Without it, or without
// WithWorkspaces, runs get an error of kind "unavailable". An executor without isolation needs
// WithUnsafeLocal.
func WithExecutor(e executor.Executor) Option {
	return func(c *config) error { c.executor = e; return nil }
}

// WithWorkspaces sets where runs have their files. The value is from workspace.Open. An executor
// on this machine needs workspaces on this machine.
func WithWorkspaces(p workspace.Places) Option {
	return func(c *config) error { c.workspaces = p; return nil }
}

// WithDependencies lets runs use the packages that their skills require, from the directory
// into which "satchel deps --cache" has installed them. The executor must show the directory
// (sandbox.WithReadable).
func WithDependencies(dir string) Option {
	return func(c *config) error {
		cache, err := deps.Open(dir)
		if err != nil {
			return fmt.Errorf("%w: dependencies: %w", errOption, err)
		}
		c.dependencies = cache
		return nil
	}
}

// WithBlobs sets the store of blobs; the default is one in memory.
func WithBlobs(s blobs.Store) Option {
	return func(c *config) error { c.store = s; return nil }
}

// WithCreate lets callers create skills. It needs WithCreatedSkills.
func WithCreate() Option {
	return func(c *config) error { c.create = true; return nil }
}

// WithUnsafeLocal accepts an executor that isolates nothing: runs can do what the server can.
func WithUnsafeLocal() Option {
	return func(c *config) error { c.unsafeLocal = true; return nil }
}

// WithoutRuns sets the reason in the error for runs on a server without an executor.
func WithoutRuns(why string) Option {
	return func(c *config) error { c.noRunsReason = why; return nil }
}

// WithLimits sets the bounds of runs and of their blobs.
func WithLimits(l Limits) Option {
	return func(c *config) error {
		if l.Runs < 0 || l.OutputBlobs < 0 {
			return fmt.Errorf("%w: %d runs at once, %d output blobs: want 0 or more", errOption, l.Runs, l.OutputBlobs)
		}
		if l.QueueWait < 0 {
			return fmt.Errorf("%w: runs wait %v for their place", errOption, l.QueueWait)
		}
		c.limits = l
		return nil
	}
}

// WithAuth sets a function that authenticates HTTP requests, such as that of OpenTokenFile. It
// may be called concurrently. Its error wraps ErrUnauthenticated if the request has no valid
// credentials. Without WithAuth every caller is LocalPrincipal.
func WithAuth(authenticate func(*http.Request) (Principal, error)) Option {
	return func(c *config) error { c.auth = authenticate; return nil }
}

// WithAllowUIDs lets other users of the machine call by the unix socket. The user of the
// server always may.
func WithAllowUIDs(uids ...int) Option {
	return func(c *config) error { c.allowUIDs = append(c.allowUIDs, uids...); return nil }
}

// WithAllowOrigins lets pages of these origins call by HTTP, such as
// "https://app.example.com". The default is none.
func WithAllowOrigins(origins ...string) Option {
	return func(c *config) error { c.origins = append(c.origins, origins...); return nil }
}

// WithHosts adds host names of the server. On the loopback interface the server refuses a request
// if its Host header is neither localhost nor one of these names. Otherwise a web page could reach
// it under a domain of its own (DNS rebinding).
func WithHosts(names ...string) Option {
	return func(c *config) error { c.hosts = append(c.hosts, names...); return nil }
}

// WithAddress adds a route that the host serves itself to the list at GET /. at is method and
// path, such as "POST /mcp"; use says what the route is for.
func WithAddress(at, use string) Option {
	return func(c *config) error { c.addresses = append(c.addresses, address{At: at, Use: use}); return nil }
}

// WithLogger sets the logger, which gets a line for each call at level Info. The default passes
// warnings and errors to slog.Default. Lines hold no parameters, code or output.
func WithLogger(l *slog.Logger) Option {
	return func(c *config) error { c.logger = l; return nil }
}

// WithObserver sets a function that the server calls after each call of a method. It must not
// block.
func WithObserver(f func(context.Context, Record)) Option {
	return func(c *config) error { c.observe = f; return nil }
}

// WithCursorKey sets the key that signs the cursors of lists, at least 16 bytes. Cursors then
// survive a restart, and are valid on all servers with the key. The default is a random key.
func WithCursorKey(key []byte) Option {
	return func(c *config) error {
		if len(key) < minCursorKey {
			return fmt.Errorf("%w: a key of %d bytes for cursors: at least %d", errOption, len(key), minCursorKey)
		}
		c.key = slices.Clone(key)
		return nil
	}
}
