package protocol

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/warnlog"
	"github.com/satchel-go/satchel/protocol/blobs"
	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
	"github.com/satchel-go/satchel/protocol/internal/run"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
	"github.com/satchel-go/satchel/skillmd"
)

// Server answers the methods of the protocol. Its methods may be called concurrently, except
// Close. Open returns one.
type Server struct {
	config
	skills    *skillset.Set
	guide     *skillset.Skill
	queue     *run.Queue
	runner    *run.Runner // nil: no executor
	methods   map[string]method
	metrics   metrics
	traffic   traffic  // of HTTP
	languages []string // that runs can have
	// stopRelease ends that the executor hears of workspaces that are removed; nil without runs.
	stopRelease func()
	stopSweep   func()          // stops the removal of expired blobs
	base        context.Context // ends when the server is closed
	cancel      context.CancelFunc
}

// Open lists the skills and returns a server of them. [Server.Diagnostics] names the skills that
// cannot be used. The error is that of an option or of ctx, or says why the directory of created
// skills cannot be used. The host closes the server after use. Close closes nothing that the
// options contain.
func Open(ctx context.Context, opts ...Option) (*Server, error) {
	s := &Server{traffic: traffic{tenants: make(map[string]*load)}}
	s.logger = warnlog.New()
	for _, opt := range opts {
		if err := opt(&s.config); err != nil {
			return nil, err
		}
	}
	if err := s.fill(ctx); err != nil {
		return nil, err
	}
	if s.published != nil {
		s.published.server = s
	}
	s.base, s.cancel = context.WithCancel(context.Background())
	s.queue = run.NewQueue(s.limits.Runs, s.limits.QueueWait)
	s.methods = s.methodTable()
	s.stopSweep = s.startSweep()
	return s, nil
}

// fill sets defaults, checks options that need each other, and opens the guide and the skills.
func (s *Server) fill(ctx context.Context) (err error) {
	if s.store == nil {
		s.store = blobs.NewMemory(blobs.Quota{})
	}
	s.limits.BlobExpiry = cmp.Or(s.limits.BlobExpiry, normalExpiry)
	if s.key == nil {
		s.key = make([]byte, cursorKeySize)
		_, _ = rand.Read(s.key) // never fails
	}
	if s.create && s.createdDir == "" {
		return fmt.Errorf("%w: callers can create skills (WithCreate) only in a directory: name it by WithCreatedSkills", errOption)
	}
	s.languages = run.Languages(ctx, s.executor)
	if s.executor != nil && s.workspaces != nil {
		if s.executor.Capabilities().Isolation.IsNone() && !s.unsafeLocal {
			return fmt.Errorf("%w: the executor isolates nothing: give another, or say that this is meant (WithUnsafeLocal)", errOption)
		}
		places, ok := s.workspaces.(workspace.Places)
		if !ok {
			return fmt.Errorf("%w: workspaces of type %T are not from workspace.Open", errOption, s.workspaces)
		}
		s.runner = &run.Runner{Executor: s.executor, Workspaces: places, Blobs: s.store, Dependencies: s.dependencies, Expiry: s.limits.BlobExpiry, OutputBlobs: s.limits.OutputBlobs, Limits: s.limits.Run, Languages: s.languages}
		s.stopRelease = workspace.ReleaseBy(places, s.executor)
	}
	if s.guide, err = openGuide(ctx, s.create); err != nil {
		return err
	}
	s.skills, err = skillset.Open(ctx, s.createdDir, s.sources...)
	return err
}

// startSweep removes expired blobs every sweepEvery until the caller calls stop.
func (s *Server) startSweep() (stop func()) {
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

// Close refuses new runs and waits for running ones, at most 30 seconds or until ctx ends. Then it
// cancels the rest and releases the resources of the server. The host calls it once.
func (s *Server) Close(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	_ = s.queue.Close(limited)
	s.cancel()
	err := s.queue.Close(context.WithoutCancel(ctx)) // cancelled runs end within about a second
	if s.runner != nil {
		err = errors.Join(err, s.runner.Close())
		s.stopRelease()
	}
	s.stopSweep()
	return errors.Join(err, s.skills.Close())
}

// Refresh lists the skills of all sources again and reads those that have changed. A directory
// that does not exist any more has no skills. If another source fails, the server keeps the
// skills it had. Diagnostics report both. The error is that of ctx.
func (s *Server) Refresh(ctx context.Context) error { return s.skills.Refresh(ctx) }

// Diagnostics returns the findings of the last listing of the skills.
func (s *Server) Diagnostics() []skillmd.Diagnostic { return s.skills.Diagnostics() }

// Watch lists the skills again when a source reports a change ([source.Notifier]). Each
// second it also looks for skills that other servers have created in the same directory. It
// ends when the host calls stop or closes the server. report, if not nil, gets each new
// diagnostic. Without Watch the server sees changes when a caller lists skills or asks for an
// unknown one.
func (s *Server) Watch(report func([]skillmd.Diagnostic)) (stop func()) {
	end := sync.OnceFunc(s.skills.Watch(report))
	release := context.AfterFunc(s.base, end)
	return func() {
		release()
		end()
	}
}

// method is a method of the protocol: the scope that callers need, and the function that answers.
type method struct {
	scope Scope
	call  func(c *call, ctx context.Context) (any, error)
}

// call is one call of a method, while the server answers it.
type call struct {
	*Server
	Principal
	params json.RawMessage
	notify func(method string, params any)
	record *Record
	warn   []string // warnings for the caller
}

// decode reads the parameters and adds its warnings to those of the call.
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

// Call calls a method for a principal and returns the result, which marshals to JSON. If the
// parameters of a run have a progress_token, notify, if not nil, gets the progress. The error is
// an *Error.
func (s *Server) Call(ctx context.Context, who Principal, name string, params json.RawMessage, notify func(method string, params any)) (any, error) {
	result, fault := s.answer(ctx, who, jsonrpc.Call{Method: name, Params: params}, notify)
	if fault != nil {
		return nil, (*Error)(fault)
	}
	return result, nil
}

// handler returns the function that answers the calls of a principal.
func (s *Server) handler(who Principal) jsonrpc.Handler {
	return func(ctx context.Context, in jsonrpc.Call, notify func(string, any)) (any, error) {
		result, fault := s.answer(ctx, who, in, notify)
		if fault != nil {
			return nil, fault
		}
		return result, nil
	}
}

// answer calls a method for a principal, records the call, and adds the warnings to the result.
func (s *Server) answer(ctx context.Context, who Principal, in jsonrpc.Call, notify func(method string, params any)) (any, *jsonrpc.Error) {
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
	result, err := s.dispatch(ctx, c, in.Method)
	var refusal *jsonrpc.Error
	if err != nil {
		result, refusal = nil, s.errorFor(ctx, err, in.Method)
		record.Code = refusal.Code
	} else {
		result = withWarnings(result, c.warn)
	}
	record.Duration = time.Since(began)
	s.recordCall(ctx, record)
	return result, refusal
}

// errorFor returns the error that the caller of a method gets for err.
func (s *Server) errorFor(ctx context.Context, err error, method string) *jsonrpc.Error {
	if public := errorOf(ctx, err); public != nil {
		return public
	}
	return (*jsonrpc.Error)(s.Internal(err, method))
}

// dispatch calls the method if the caller has its scope. A panic of the method is an error.
func (s *Server) dispatch(ctx context.Context, c *call, name string) (result any, err error) {
	m, ok := s.methods[name]
	if !ok {
		c.record.Method = "unknown"
		return nil, notFoundMethod(name, s.methodNames())
	}
	if !c.Has(m.scope) {
		return nil, fault(codeForbidden, "forbidden", "needs scope %q", m.scope)
	}
	defer func() {
		if thrown := recover(); thrown != nil {
			err = fmt.Errorf("panic: %v", thrown)
		}
	}()
	return m.call(c, ctx)
}

// methodNames returns the names of the tools for models, then those of the other methods.
func (s *Server) methodNames() (names []string) {
	for _, d := range s.methodDocs() {
		names = append(names, d.Name)
	}
	return names
}

// Internal logs err, which no caller may see, and returns the error for the caller. Both have
// the same reference.
func (s *Server) Internal(err error, method string) *Error {
	var b [6]byte
	_, _ = rand.Read(b[:])
	ref := hex.EncodeToString(b[:])
	s.logger.Error("internal error", "ref", ref, "method", method, "error", err)
	return &Error{Code: jsonrpc.CodeInternal, Message: "internal error", Data: map[string]any{"kind": "internal", "ref": ref}}
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
