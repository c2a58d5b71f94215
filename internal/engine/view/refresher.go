package view

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
)

// RunInBackground calls f on a goroutine. The returned function cancels the context of f and
// waits until f returns.
func RunInBackground(f func(context.Context)) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f(ctx)
	}()
	return func() error {
		cancel()
		<-ended
		return nil
	}
}

// Refresher refreshes a catalog after sources have reported changes. Make one with
// [NewRefresher].
type Refresher struct {
	catalog *catalog.Catalog
	report  *Reporter
	log     *slog.Logger

	// reported counts the reports of changes. finished is its value when the last finished
	// refresh began.
	reported, finished atomic.Int64
	token              chan struct{} // holds one token: the right to finish a refresh
	changed            chan struct{} // holds a value after a change
}

// NewRefresher returns the refresher of a catalog. It logs errors of refreshes to log.
func NewRefresher(skills *catalog.Catalog, report *Reporter, log *slog.Logger) *Refresher {
	return &Refresher{catalog: skills, report: report, log: log, token: make(chan struct{}, 1), changed: make(chan struct{}, 1)}
}

// Refresh looks for changes of the skills in their places, and reports what it has found.
func (r *Refresher) Refresh(ctx context.Context) error {
	_, err := r.catalog.Refresh(ctx)
	r.report.ReportScan(ctx, r.catalog.Snapshot())
	return err
}

// Follow refreshes the catalog in the background after a source reports changes, until stop is
// called. It waits a moment first, so that the call that made a change is answered before.
func (r *Refresher) Follow(sources []catalog.Source) (stop func() error) {
	var quiet []func()
	for _, s := range sources {
		if n, ok := s.(source.Notifier); ok {
			quiet = append(quiet, n.Notify(r.note))
		}
	}
	if quiet == nil {
		return func() error { return nil }
	}
	end := RunInBackground(r.follow)
	return func() error {
		for _, q := range quiet {
			q()
		}
		return end()
	}
}

// note counts a report of a change. It never blocks.
func (r *Refresher) note() {
	r.reported.Add(1)
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// follow finishes the refreshes that no call has finished before.
func (r *Refresher) follow(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.changed:
		}
		if !sleep(ctx, refreshDelay) || r.Finish(ctx) != nil || !sleep(ctx, refreshPause) {
			return
		}
	}
}

// Finish returns when the catalog has every change that was reported before the call. It
// refreshes the catalog if that has not happened yet, or waits for the refresh that runs. The
// error is that of ctx. If the refresh fails, Finish logs the error, and the catalog stays as it
// is until the next report.
func (r *Refresher) Finish(ctx context.Context) error {
	finished, reported := r.finished.Load(), r.reported.Load()
	if finished >= reported {
		return nil
	}
	select {
	case r.token <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-r.token }()
	if r.finished.Load() >= reported {
		return nil
	}
	reported = r.reported.Load()
	err := r.Refresh(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.finished.Store(reported)
	if _, isLogged := errors.AsType[*catalog.RootError](err); err != nil && !isLogged {
		r.log.WarnContext(ctx, "the skills cannot be read again", "error", err)
	}
	return nil
}

// sleep waits for d, and reports false if ctx ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
