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
	"github.com/satchel-go/satchel/internal/engine/view"
	"github.com/satchel-go/satchel/skillmd"
)

// Runtime gives agents their skills. One runtime serves any number of agents
// and sessions; it is safe for concurrent use.
type Runtime struct {
	config

	catalog   *catalog.Catalog
	refresher *view.Refresher
	calls     *call.Calls
	turns     *turn.Turns
	// closers close the defaults that the runtime opened for the host, and stop its work in
	// the background.
	closers   []func() error
	anonymous atomic.Int64  // how many anonymous sessions have begun
	requests  atomic.Uint64 // how many requests were traced
	closeOnce sync.Once
	closeErr  error // the result of Close
}

// Close ends the commands that continue between calls, and closes what New opened: the catalog,
// and the workspaces with all their files. Open calls may fail; [Runtime.Shutdown] waits for
// them first. A second Close returns the same error and changes nothing.
func (r *Runtime) Close() error {
	r.closeOnce.Do(func() {
		r.closeErr = closeAll(r.closers)
		if r.hostCatalog == nil {
			r.closeErr = errors.Join(r.closeErr, r.catalog.Close())
		}
	})
	return r.closeErr
}

func closeAll(closers []func() error) error {
	var errs []error
	for _, close := range closers {
		errs = append(errs, close())
	}
	return errors.Join(errs...)
}

// Shutdown waits until the open tool calls have ended, and then closes the runtime as
// [Runtime.Close] does. From its beginning on, [Agent.Prepare] and [Agent.Open] fail, so that a
// run ends before its next model call. A server first stops accepting requests and waits for
// those that it has. If ctx ends before the calls do, Shutdown closes the runtime anyway, which
// ends their commands, and returns the error of ctx.
func (r *Runtime) Shutdown(ctx context.Context) error {
	var err error
	select {
	case <-r.calls.OpenCalls.Stop():
	case <-ctx.Done():
		err = ctx.Err()
	}
	return errors.Join(err, r.Close())
}

// Tools returns the tools to offer the model, in a fixed order. They are constant for the life
// of the runtime, and depend neither on what is loaded nor on the catalog. The one exception is
// a session that began without a visible skill: it is offered none of them, see core.View. The
// caller must not change the slice.
func (r *Runtime) Tools() []core.Tool { return r.calls.Offer.Set.Tools() }

// Catalog returns the catalog of the runtime.
func (r *Runtime) Catalog() *catalog.Catalog { return r.catalog }

// Refresh looks for changes of the skills in their places. Sessions that have begun keep their
// overview; their next user turn notes the changes once.
func (r *Runtime) Refresh(ctx context.Context) error {
	return r.refresher.Refresh(ctx)
}

// codeOverview is the code of the diagnostic that the overview has no room for every
// description, or for every name.
const codeOverview skillmd.Code = "overview-cut"

// codeNeeds is the code of the diagnostic that a skill is hidden because its needs are not met.
const codeNeeds skillmd.Code = "needs-missing"

// Diagnostics returns the current problems of the skills. First come those of their files, in
// the order of the files, then entries of allowed-tools that allow nothing. Then comes whether
// [WithFork] is missing, then the skills that Overview.Needs hides, and last what the overview has
// no room for.
func (r *Runtime) Diagnostics() []skillmd.Diagnostic {
	o := r.calls.Overviews.Of(r.catalog)
	all := slices.Clone(o.Snapshot.Diagnostics())
	for _, skill := range o.Snapshot.Skills() {
		all = append(all, r.calls.Allowlists.Names.Findings(skill)...)
	}
	all = append(all, r.forkDiagnostics(o.Snapshot)...)
	if r.calls.Hiding != nil {
		hidden, why := r.calls.Hiding.Hidden(context.Background(), o.Snapshot)
		for i, skill := range hidden {
			all = append(all, skillmd.Diagnostic{File: skill.Place, Code: codeNeeds, Severity: skillmd.Warning, Message: "hidden from the model: missing here: " + why[i]})
		}
	}
	if !o.Fit.IsWhole() {
		all = append(all, skillmd.Diagnostic{Code: codeOverview, Severity: skillmd.Warning, Message: "overview: " + o.Fit.String()})
	}
	return all
}

// Ready looks for changes of the skills, as [Runtime.Refresh] does, and reports what agents
// lack; nil if they lack nothing. The error contains a [catalog.RootError] for each place that
// has no skills (see [catalog.Catalog.Ready]). It is [catalog.ErrNoSkills] if no place has any.
// If commands cannot run at all, it wraps executor.ErrSetup or sandbox.ErrUnavailable, and says
// what to change. If the host names no executor, Ready opens the default sandbox, as the first
// command would. If skills declare programs, Ready waits until these were looked for. Problems of
// single skills are in [Runtime.Diagnostics].
func (r *Runtime) Ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := r.Refresh(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, isOfRoots := errors.AsType[*catalog.RootError](err); isOfRoots { // catalog.Ready returns these too
		err = nil
	}
	err = errors.Join(err, r.catalog.Ready())
	if r.calls.Offer.Runner != nil {
		err = errors.Join(err, call.Ready(ctx, r.calls.Offer.Runner))
	}
	r.calls.AwaitPrograms(ctx)
	return errors.Join(err, ctx.Err())
}

// ErrClosed reports a command of a runtime that is closed.
var ErrClosed = errors.New("the runtime is closed")

// ErrNoSession reports a call that belongs to no session.
var ErrNoSession = errors.New("no session: put one into the context with satchel.WithSession")

// anonymousPrefix begins the ids of sessions for which the host gave no id.
const anonymousPrefix = "\x00run-"

// errReserved reports a session id that is reserved for the runtime.
var errReserved = errors.New("the session id is reserved: one may not begin with a NUL or with \"satchel:\"")

// admit refuses a host's session id that is reserved for the runtime's own records. Every
// public method that reaches a session's state calls it first.
func admit(key core.SessionKey) error {
	if !key.Anonymous && (strings.HasPrefix(key.Session, "\x00") || strings.HasPrefix(key.Session, "satchel:")) {
		return fmt.Errorf("session %.100q: %w", key.Session, errReserved)
	}
	return nil
}
