package satchel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/call"
	"github.com/satchel-go/satchel/internal/engine/turn"
	"github.com/satchel-go/satchel/skillmd"
)

// Runtime gives agents their skills. One runtime serves any number of agents
// and sessions; it is safe for concurrent use.
type Runtime struct {
	settings

	catalog *catalog.Catalog
	calls   *call.Calls
	turns   *turn.Turns
	// closers close what the runtime has made because the host left it out.
	closers []func() error
	runs    atomic.Int64 // how many sessions without a name there were
	closing sync.Once
	closed  error // of Close
}

// Close ends the commands that go on between calls, and closes what New opened:
// the catalog, and the workspaces with all that is in them. Calls under way may
// fail; [Runtime.Shutdown] lets them end first. Closing it again changes nothing.
func (r *Runtime) Close() error {
	r.closing.Do(func() {
		r.closed = r.closeOwned()
		if r.shared == nil {
			r.closed = errors.Join(r.closed, r.catalog.Close())
		}
	})
	return r.closed
}

func (r *Runtime) closeOwned() error {
	return closeAll(r.closers)
}

func closeAll(closers []func() error) error {
	var errs []error
	for _, close := range closers {
		errs = append(errs, close())
	}
	return errors.Join(errs...)
}

// Shutdown lets the open tool calls end, and then closes the runtime, as [Runtime.Close]
// does. From its beginning on, [Agent.Prepare] and [Agent.Open] fail with [errShutdown], so
// a run ends before its next model call. A server first stops to take requests and waits
// for those that it has. If ctx ends before the calls do, the runtime is closed all the
// same, which ends their commands. The error is then that of ctx.
func (r *Runtime) Shutdown(ctx context.Context) error {
	var err error
	select {
	case <-r.calls.Opened.Stop():
	case <-ctx.Done():
		err = ctx.Err()
	}
	return errors.Join(err, r.Close())
}

// Tools returns the tools to offer the model, in a fixed order. They are constant for the
// life of the runtime. They depend neither on what is loaded nor on the catalog, with one
// exception: a session that began without a skill to see gets none of them, as core.View
// says. The caller must not change the slice.
func (r *Runtime) Tools() []core.Tool { return r.calls.Offer.Set.Tools() }

// Catalog returns the catalog.
func (r *Runtime) Catalog() *catalog.Catalog { return r.catalog }

// Refresh looks for changes of the skills. Sessions that have begun keep their overview. Their
// next user turn notes the changes once.
func (r *Runtime) Refresh(ctx context.Context) error {
	_, err := r.catalog.Refresh(ctx)
	r.calls.Report.Scanned(ctx, r.catalog.Snapshot())
	return err
}

// codeOverview says that the overview has no room for every description, or for every name.
const codeOverview skillmd.Code = "overview-cut"

// Diagnostics returns the problems of the skills as they are now. First come those of their
// files, in the order of the files, then the entries of allowed-tools that allow nothing, and
// last what the overview has no room for.
func (r *Runtime) Diagnostics() []skillmd.Diagnostic {
	o := r.calls.Overviews.Of(r.catalog)
	all := slices.Clone(o.Snapshot.Diagnostics())
	for _, skill := range o.Snapshot.Skills() {
		all = append(all, r.calls.Bounds.Names.Findings(skill)...)
	}
	if !o.Fit.IsWhole() {
		all = append(all, skillmd.Diagnostic{Code: codeOverview, Severity: skillmd.Warning, Message: "overview: " + o.Fit.String()})
	}
	return all
}

// errShutdown reports a request or a call that came after [Runtime.Shutdown].
var errShutdown = call.ErrShutdown

// Ready looks for changes of the skills, as [Runtime.Refresh] does, and reports what
// agents lack; nil if they lack nothing. The error
// holds a [catalog.RootError] for each place of skills that gives none, see
// [catalog.Catalog.Ready], and is [catalog.ErrNoSkills] if no place gives any. If
// commands cannot run at all, it wraps executor.ErrSetup or sandbox.ErrUnavailable, and
// says what to change. Ready opens the sandbox of a host that names no executor, as the
// first command would. What is wrong with single skills is in [Runtime.Diagnostics].
func (r *Runtime) Ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := r.Refresh(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, listed := errors.AsType[*catalog.RootError](err); listed { // Ready has these too
		err = nil
	}
	err = errors.Join(err, r.catalog.Ready())
	if r.calls.Offer.Runner != nil {
		err = errors.Join(err, call.Ready(ctx, r.calls.Offer.Runner))
	}
	return err
}

// ErrClosed reports a command for a runtime that was closed.
var ErrClosed = errors.New("the runtime is closed")

// ErrNoSession reports a call that belongs to no session.
var ErrNoSession = errors.New("no session: put one into the context with satchel.WithSession")

// anonymousPrefix begins the ids of sessions that no host named.
const anonymousPrefix = "\x00run-"

// errReserved reports a session id that only the runtime itself may use.
var errReserved = errors.New("the session id is reserved: one may not begin with a NUL or with \"satchel:\"")

// admit refuses sessions of a host whose ids are those of the runtime's own records.
// Every public way to a session's state asks it first.
func admit(key core.SessionKey) error {
	if !key.Anonymous && (strings.HasPrefix(key.Session, "\x00") || strings.HasPrefix(key.Session, "satchel:")) {
		return fmt.Errorf("session %.100q: %w", key.Session, errReserved)
	}
	return nil
}
