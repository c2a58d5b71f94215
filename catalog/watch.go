package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/skillmd"
)

// WatchOptions are the settings of [Catalog.Watch]. A field of 0 is the default.
type WatchOptions struct {
	// Quiet is how long no file may change before the catalog is refreshed; the default is
	// 200 ms.
	Quiet time.Duration
	// Latest is how long after a change the catalog is refreshed even if files keep changing;
	// the default is 2 s. The catalog is refreshed at most twice in that time.
	Latest time.Duration
	// Poll is how often the catalog is refreshed if the system does not report changes; the
	// default is 30 s.
	Poll time.Duration
	// MaxWatches is the largest number of folders to watch; the default is 4096. Those nearest
	// to their roots come first.
	MaxWatches int
	// Changed, if set, is called after each refresh that has changed the snapshot.
	Changed func(context.Context, *Snapshot)
}

// WithWatch refreshes the catalog when its skills change, until it is closed; see [Catalog.Watch].
func WithWatch(opts WatchOptions) Option {
	return func(c *config) error { c.watch = &opts; return nil }
}

// WithChanged adds a function that every watcher calls after a refresh that has changed the
// snapshot, before it calls [WatchOptions].Changed.
func WithChanged(changed func(context.Context, *Snapshot)) Option {
	return func(c *config) error { c.onChange = append(c.onChange, changed); return nil }
}

// watcher refreshes a catalog when its skills change.
type watcher struct {
	c         *Catalog
	opts      WatchOptions
	stop      context.CancelFunc
	done      chan struct{}
	notices   chan struct{} // gets a value when a source reports a change
	stops     []func()      // the results of Notify
	pace      scan.Pace
	watch     *scan.Watches
	needsPoll bool // some roots cannot be watched
	last      *Snapshot
}

// Watch refreshes the catalog when a skill of one of its roots is added, edited or removed.
// Directories and plugins are read again when the system reports a change, and sources when they
// do ([source.Notifier]). All others, such as archives, are read every Poll. If the system can
// watch no folder, or not all of them, everything is polled as well, and a diagnostic says so.
// Watching ends with ctx, with stop, or with the catalog. When stop returns, no goroutine of the
// watch is left. Calling stop twice is harmless.
func (c *Catalog) Watch(ctx context.Context, opts WatchOptions) (stop func() error) {
	return c.watchWith(ctx, opts).Close
}

func (c *Catalog) watchWith(ctx context.Context, opts WatchOptions) *watcher {
	opts.Quiet = cmp.Or(max(opts.Quiet, 0), watchQuiet)
	opts.Latest = cmp.Or(max(opts.Latest, 0), watchLatest)
	opts.Poll = cmp.Or(max(opts.Poll, 0), watchPoll)
	opts.MaxWatches = cmp.Or(max(opts.MaxWatches, 0), maxWatches)
	ctx, stop := context.WithCancel(ctx)
	w := &watcher{
		c: c.WithoutAudience(), opts: opts, stop: stop, done: make(chan struct{}), notices: make(chan struct{}, 1),
		pace: scan.Pace{Quiet: opts.Quiet, Latest: opts.Latest}, watch: &scan.Watches{}, last: c.WithoutAudience().Snapshot(),
	}
	for i, p := range c.places {
		n, ok := c.roots[i].Source().(source.Notifier)
		if ok {
			w.stops = append(w.stops, n.Notify(w.notice))
		}
		w.needsPoll = w.needsPoll || !ok && p.IsNamed()
	}
	go w.run(ctx)
	return w
}

// notice tells the watcher that a source has changed. It never blocks.
func (w *watcher) notice() {
	select {
	case w.notices <- struct{}{}:
	default:
	}
}

// Close ends watching. When it returns, no goroutine of the watcher is left.
func (w *watcher) Close() error {
	w.stop()
	<-w.done
	return nil
}

func (w *watcher) run(ctx context.Context) {
	defer close(w.done)
	defer func() {
		for _, quiet := range w.stops {
			quiet()
		}
		w.watch.Close()
	}()
	w.updateWatches()
	w.pace.Changed(time.Now()) // files may have changed since the catalog was opened
	timer, poll := time.NewTimer(0), time.NewTicker(w.opts.Poll)
	defer timer.Stop()
	defer poll.Stop()
	for {
		var due, polled <-chan time.Time
		if at, ok := w.pace.Due(); ok {
			timer.Reset(time.Until(at))
			due = timer.C
		}
		if w.needsPoll || w.watch.Limited {
			polled = poll.C
		}
		events, lost := w.watch.Channels()
		select {
		case <-ctx.Done():
			return
		case e := <-events:
			if w.watch.Concerns(e) {
				w.pace.Changed(time.Now())
			}
		case err := <-lost:
			w.c.cfg.logger.DebugContext(ctx, "changes of skills were lost", "error", err)
			w.pace.Changed(time.Now())
		case <-w.notices:
			w.pace.Changed(time.Now())
		case <-polled:
			w.pace.Changed(time.Now())
		case <-due:
			if !w.refresh(ctx) {
				return
			}
		}
	}
}

// refresh refreshes the catalog and watches its new folders. It returns false if the catalog is
// closed.
func (w *watcher) refresh(ctx context.Context) bool {
	w.pace.Begin()
	snapshot, err := w.c.Refresh(ctx)
	switch {
	case ctx.Err() != nil:
		return true
	case errors.Is(err, fs.ErrClosed):
		return false
	case isUnreported(err):
		w.c.cfg.logger.WarnContext(ctx, "the skills cannot be read again", "error", err)
	}
	if w.updateWatches() {
		w.pace.Changed(time.Now()) // files may have changed before their folders were watched
	}
	w.pace.End(time.Now())
	if snapshot != w.last {
		for _, changed := range w.c.cfg.onChange {
			changed(ctx, snapshot)
		}
		if w.opts.Changed != nil {
			w.opts.Changed(ctx, snapshot)
		}
	}
	w.last = snapshot
	return true
}

// updateWatches watches the current folders of the catalog. It reports whether the folders, or
// the finding about them, have changed.
func (w *watcher) updateWatches() bool {
	next, err := w.watch.Follow(w.c.watchedDirs(), w.opts.MaxWatches)
	if err != nil {
		w.c.cfg.logger.Warn("folders of skills cannot be watched", "error", err)
	}
	changed := next != w.watch
	w.watch = next
	var finding *skillmd.Diagnostic
	if next.Limited {
		finding = &skillmd.Diagnostic{
			Code: codeWatchLimited, Severity: skillmd.Warning,
			Message: fmt.Sprintf("%d of %d folders are watched; changes in the others are found within %v", next.Count, len(next.Dirs), w.opts.Poll),
		}
	}
	if last := w.c.watchFinding.Load(); (last == nil) != (finding == nil) || last != nil && *last != *finding {
		w.c.watchFinding.Store(finding)
		changed = true
	}
	return changed
}
