package protocol

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/deps"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/lazyfs"
	"github.com/satchel-go/satchel/protocol/blobs"
	"github.com/satchel-go/satchel/protocol/jsonrpc"
	"github.com/satchel-go/satchel/protocol/run"
	"github.com/satchel-go/satchel/protocol/shelf"
	"github.com/satchel-go/satchel/workspace"
)

// Server answers the methods of the protocol. Its methods may be called
// concurrently. Make one with New.
type Server struct {
	settings
	guide   *shelf.Skill
	queue   *run.Queue
	runner  *run.Runner // nil: nothing is run
	methods map[string]method
	metrics metrics
	traffic traffic // by HTTP
	sweeper func()  // stops the sweeping of blobs
	base    context.Context
	cancel  context.CancelFunc
}

// settings are what the options set.
type settings struct {
	shelf        *shelf.Shelf
	executor     executor.Executor
	workspaces   workspace.Places
	dependencies *deps.Cache
	store        blobs.Store
	blobExpiry   time.Duration
	create       bool
	unsafeLocal  bool
	noRuns       string
	limits       Limits
	auth         Authenticator
	allowUIDs    []int
	origins      []string
	hosts        []string
	addresses    []address
	logger       *slog.Logger
	observe      func(context.Context, Record)
	key          []byte
	grants       grants
}

// Limits bound a server. A zero field stands for its default.
type Limits struct {
	// Runs is how many go on at once; the default is four for each processor. A tenant
	// that is alone has all of them, tenants that want them at once share them.
	Runs int
	// QueueWait is how long a run waits for its place; the default is 60 seconds.
	QueueWait time.Duration
	// Run bounds each run; its timeout is the default of calls, 5 minutes.
	Run executor.Limits
	// OutputBlobs is how many blobs a run may make; the default is 64.
	OutputBlobs int
}

// Option configures New.
type Option func(*settings) error

// ErrOption is wrapped when a server is made with an option that has no meaning.
var ErrOption = errors.New("invalid option")

// WithShelf sets the skills; the default is none but the guide.
func WithShelf(s *shelf.Shelf) Option {
	return func(c *settings) error { c.shelf = s; return nil }
}

// WithExecutor sets what runs skills and code. Without it, and workspaces, runs are
// answered with CodeUnavailable. An executor without isolation needs
// WithUnsafeLocal.
func WithExecutor(e executor.Executor) Option {
	return func(c *settings) error { c.executor = e; return nil }
}

// WithWorkspaces sets where runs have their files. Executors on this machine need
// workspaces on this machine.
func WithWorkspaces(p workspace.Places) Option {
	return func(c *settings) error { c.workspaces = p; return nil }
}

// WithDependencies lets runs use the packages of a cache that their skills require. The
// executor must show its directory (sandbox.WithReadable).
func WithDependencies(cache *deps.Cache) Option {
	return func(c *settings) error { c.dependencies = cache; return nil }
}

// WithBlobs sets the store of blobs; the default is one in memory.
func WithBlobs(s blobs.Store) Option {
	return func(c *settings) error { c.store = s; return nil }
}

// WithBlobExpiry sets how long blobs are kept for which a call gives no ttl_s, those of runs
// among them. The default is blobs.DefaultExpiry; a negative lifetime is for ever.
func WithBlobExpiry(lifetime time.Duration) Option {
	return func(c *settings) error { c.blobExpiry = lifetime; return nil }
}

// WithCreate lets callers create skills, on a shelf with a directory for them. The
// default is that they cannot.
func WithCreate() Option {
	return func(c *settings) error { c.create = true; return nil }
}

// WithUnsafeLocal accepts an executor that isolates nothing.
func WithUnsafeLocal() Option {
	return func(c *settings) error { c.unsafeLocal = true; return nil }
}

// WithoutRuns says why nothing can be run, for the callers who try.
func WithoutRuns(why string) Option {
	return func(c *settings) error { c.noRuns = why; return nil }
}

// WithLimits sets the bounds of runs.
func WithLimits(l Limits) Option {
	return func(c *settings) error {
		if l.Runs < 0 || l.OutputBlobs < 0 {
			return fmt.Errorf("%w: %d runs at once, %d output blobs: want 0 or more", ErrOption, l.Runs, l.OutputBlobs)
		}
		if l.QueueWait < 0 {
			return fmt.Errorf("%w: runs wait %v for their place", ErrOption, l.QueueWait)
		}
		c.limits = l
		return nil
	}
}

// WithAuth sets who may call by HTTP. The default is that everybody who reaches the
// loopback interface is LocalPrincipal.
func WithAuth(a Authenticator) Option {
	return func(c *settings) error { c.auth = a; return nil }
}

// WithAllowUIDs lets other users of the machine call by the unix socket; the
// server's own always may.
func WithAllowUIDs(uids ...int) Option {
	return func(c *settings) error { c.allowUIDs = append(c.allowUIDs, uids...); return nil }
}

// WithAllowOrigins lets pages of these origins call by HTTP, such as
// "https://app.example.com". The default is none.
func WithAllowOrigins(origins ...string) Option {
	return func(c *settings) error { c.origins = append(c.origins, origins...); return nil }
}

// WithHosts names the server beside localhost: a request on the loopback interface
// for another host is refused.
func WithHosts(names ...string) Option {
	return func(c *settings) error { c.hosts = append(c.hosts, names...); return nil }
}

// WithAddress names an address that the host answers beside those of Handler, such as
// "POST /mcp", and what it is for: GET / tells of it.
func WithAddress(at, use string) Option {
	return func(c *settings) error { c.addresses = append(c.addresses, address{At: at, Use: use}); return nil }
}

// WithLogger sets where a line for each call goes; the default is nowhere. Lines
// hold no parameters, code or output.
func WithLogger(l *slog.Logger) Option {
	return func(c *settings) error { c.logger = l; return nil }
}

// WithObserver calls a function after each call. It must not block.
func WithObserver(f func(context.Context, Record)) Option {
	return func(c *settings) error { c.observe = f; return nil }
}

// WithCursorKey sets the key that signs cursors, at least 16 bytes, so that they
// survive a restart. The default is a new one.
func WithCursorKey(key []byte) Option {
	return func(c *settings) error {
		if len(key) < 16 {
			return fmt.Errorf("%w: a key of %d bytes for cursors: at least 16", ErrOption, len(key))
		}
		c.key = slices.Clone(key)
		return nil
	}
}

//go:embed guidefiles
var guideFiles embed.FS

// GuideID is the id of the skill that says how to use the others. Nothing can
// shadow it.
const GuideID = "skills.protocol.guide"

// sweepEvery is how often expired blobs are removed.
const sweepEvery = time.Minute

// New returns a server. The error wraps ErrOption. Close it after use; it closes
// nothing that it was given.
func New(opts ...Option) (*Server, error) {
	s := &Server{traffic: traffic{tenants: make(map[string]*load)}}
	s.logger = slog.New(slog.DiscardHandler)
	for _, opt := range opts {
		if err := opt(&s.settings); err != nil {
			return nil, err
		}
	}
	if err := s.fill(); err != nil {
		return nil, err
	}
	s.base, s.cancel = context.WithCancel(context.Background())
	s.queue = run.NewQueue(s.limits.Runs, s.limits.QueueWait)
	s.methods = s.methodTable()
	s.sweeper = s.sweep()
	return s, nil
}

func (s *Server) fill() (err error) {
	if s.store == nil {
		s.store = blobs.NewMemory()
	}
	s.blobExpiry = cmp.Or(s.blobExpiry, blobs.DefaultExpiry)
	if s.key == nil {
		s.key = make([]byte, 32)
		_, _ = rand.Read(s.key) // never fails
	}
	if s.shelf == nil {
		if s.shelf, err = shelf.Open(context.Background(), ""); err != nil {
			return err
		}
	}
	if s.executor != nil && s.workspaces != nil {
		if s.executor.Capabilities().Isolation == executor.IsolationNone && !s.unsafeLocal {
			return fmt.Errorf("%w: the executor isolates nothing: give another, or say that this is meant (WithUnsafeLocal)", ErrOption)
		}
		s.runner = &run.Runner{Executor: s.executor, Workspaces: s.workspaces, Blobs: s.store, Dependencies: s.dependencies, Expiry: s.blobExpiry, OutputBlobs: s.limits.OutputBlobs, Limits: s.limits.Run}
	}
	s.guide, err = openGuide(s.create)
	return err
}

// openGuide opens the guide, which names create_skill if callers can create skills.
func openGuide(create bool) (*shelf.Skill, error) {
	texts := make(map[string][]byte)
	var listed []lazyfs.File
	for _, name := range []string{"SKILL.md", "skill.toml"} {
		text, err := guideFiles.ReadFile("guidefiles/" + name)
		if err != nil {
			return nil, err
		}
		if last := []byte("(this guide)\n"); create {
			text = bytes.Replace(text, last, append(last, "9. `create_skill` — save a new version of a skill, for later calls\n"...), 1)
		}
		texts[name] = text
		listed = append(listed, lazyfs.File{Path: name, Size: int64(len(text))})
	}
	files := lazyfs.New(listed, func(name string) ([]byte, error) { return texts[name], nil })
	source, err := catalog.OpenSource(catalog.FS("guide", files))
	if err != nil {
		return nil, err
	}
	own, err := shelf.Open(context.Background(), "", source)
	if err != nil {
		return nil, err
	}
	return own.Find("", GuideID, "")
}

// sweep removes expired blobs until it is stopped.
func (s *Server) sweep() (stop func()) {
	ticker, done, ended := time.NewTicker(sweepEvery), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case now := <-ticker.C:
				if _, err := s.store.Sweep(s.base, now); err != nil {
					s.logger.Warn("blobs are not swept", "error", err)
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(done)
		<-ended
	}
}

// stopWait is how long runs may go on when the server is closed.
const stopWait = 30 * time.Second

// Close refuses new runs, gives those that go on 30 seconds, or until ctx ends, and
// cancels them then. It must be called once.
func (s *Server) Close(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	_ = s.queue.Close(limited)
	s.cancel()
	err := s.queue.Close(context.WithoutCancel(ctx)) // they end within a second or so
	if s.runner != nil {
		err = errors.Join(err, s.runner.Close())
	}
	s.sweeper()
	return err
}

// method is how one is answered.
type method struct {
	scope Scope
	call  func(c *call, ctx context.Context) (any, error)
}

// call is one that is being answered.
type call struct {
	*Server
	Principal
	params json.RawMessage
	notify func(method string, params any)
	record *Record
	warn   []string
}

// decode reads the parameters and keeps the warnings.
func (c *call) decode(form any) error {
	warnings, err := decode(c.params, form)
	c.warn = append(c.warn, warnings...)
	return err
}

func (s *Server) methodTable() map[string]method {
	table := map[string]method{
		"list_skills":                {ScopeRead, (*call).listSkills},
		"describe_skill":             {ScopeRead, (*call).describeSkill},
		"read_skill_file":            {ScopeRead, (*call).readSkillFile},
		"execute_skill":              {ScopeRun, (*call).executeSkill},
		"run_code":                   {ScopeRun, (*call).runCode},
		"create_blob":                {ScopeWrite, (*call).createBlob},
		"read_blob":                  {ScopeRead, (*call).readBlob},
		"list_blobs":                 {ScopeRead, (*call).listBlobs},
		"delete_blob":                {ScopeWrite, (*call).deleteBlob},
		"tools/list":                 {ScopeRead, (*call).listTools},
		"load_skills_protocol_guide": {ScopeRead, (*call).loadGuide},
	}
	if s.create {
		table["create_skill"] = method{ScopeWrite, (*call).createSkill}
	}
	return table
}

// Call answers one call of a principal. notify is told the progress of a run whose
// parameters have a progress_token; nil tells nobody. The error is a
// *jsonrpc.Error.
func (s *Server) Call(ctx context.Context, who Principal, name string, params json.RawMessage, notify func(method string, params any)) (any, error) {
	return s.answer(ctx, who, jsonrpc.Call{Method: name, Params: params}, notify)
}

func (s *Server) answer(ctx context.Context, who Principal, in jsonrpc.Call, notify func(method string, params any)) (result any, err error) {
	began := time.Now()
	record := Record{Method: in.Method, Tenant: who.Tenant, Name: who.Name}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(s.base, cancel)
	defer stop()
	c := &call{Server: s, Principal: who, params: in.Params, notify: notify, record: &record}
	if in.Loose {
		c.warn = append(c.warn, `"jsonrpc" is missing: want "2.0"`)
	}
	result, err = s.dispatch(ctx, c, in.Method)
	if err != nil {
		told := errorOf(ctx, err)
		if told == nil {
			told = s.Internal(err, in.Method)
		}
		record.Code, err, result = told.Code, told, nil
	} else {
		result = withWarnings(result, c.warn)
	}
	record.Duration = time.Since(began)
	s.observed(ctx, record)
	return result, err
}

func (s *Server) dispatch(ctx context.Context, c *call, name string) (result any, err error) {
	m, ok := s.methods[name]
	if !ok {
		c.record.Method = "unknown"
		return nil, notFoundMethod(name, s.methodNames())
	}
	if !c.Has(m.scope) {
		return nil, fault(CodeForbidden, "forbidden", "needs scope %q", m.scope)
	}
	defer func() {
		if thrown := recover(); thrown != nil {
			err = fmt.Errorf("panic: %v", thrown)
		}
	}()
	return m.call(c, ctx)
}

// methodNames are the tools for models, and then the other methods.
func (s *Server) methodNames() (names []string) {
	for _, d := range s.described() {
		names = append(names, d.Name)
	}
	return names
}

// Internal logs an error that no caller must see, and returns the error that the caller gets:
// it holds the reference of the log line.
func (s *Server) Internal(err error, method string) *jsonrpc.Error {
	var b [6]byte
	_, _ = rand.Read(b[:])
	ref := hex.EncodeToString(b[:])
	s.logger.Error("internal error", "ref", ref, "method", method, "error", err)
	return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "internal error", Data: map[string]any{"kind": "internal", "ref": ref}}
}

// withWarnings adds warnings to a result.
func withWarnings(result any, warnings []string) any {
	if len(warnings) == 0 {
		return result
	}
	switch r := result.(type) {
	case run.Result:
		r.Warnings = append(slices.Clone(warnings), r.Warnings...)
		return r
	case map[string]any:
		r["warnings"] = warnings
	}
	return result
}
