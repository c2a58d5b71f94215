package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/skillmd"
)

// codeWatchLimited says that not all folders can be watched: changes in the others are found later.
const codeWatchLimited skillmd.Code = "watch-limited"

// WatchOptions say how a catalog is watched. A value of 0 stands for the default.
type WatchOptions struct {
	// Quiet is how long nothing may change before the catalog is refreshed; the default
	// is 200 ms.
	Quiet time.Duration
	// Latest is how long after a change it is refreshed however much goes on; the
	// default is 2 s. It is refreshed no more often than twice in that time.
	Latest time.Duration
	// Poll is how often it is refreshed where the system cannot tell of changes; the
	// default is 30 s.
	Poll time.Duration
	// MaxWatches is how many folders are watched, at most; the default is 4096. Those
	// nearest to their roots come first.
	MaxWatches int
	// Changed, if set, is called after a refresh where the snapshot has changed.
	Changed func(context.Context, *Snapshot)
}

// WithWatch refreshes the catalog when its skills change, until it is closed; see [Watch].
func WithWatch(opts WatchOptions) Option { return func(c *config) { c.watch = &opts } }

// WithChanged adds a function that a watcher calls like [WatchOptions].Changed, before it.
func WithChanged(changed func(context.Context, *Snapshot)) Option {
	return func(c *config) { c.changed = append(c.changed, changed) }
}

// Watcher refreshes a catalog when its skills change. Make one with [Watch].
type Watcher struct {
	c      *Catalog
	opts   WatchOptions
	stop   context.CancelFunc
	done   chan struct{}
	told   chan struct{} // by sources
	quiet  []func()      // ends what Notify has begun
	pace   pace
	watch  *watches
	polled bool // some roots cannot be watched
	seen   *Snapshot
}

// Watch refreshes a catalog when a skill of one of its roots is added, edited or removed:
// directories and plugins as the system tells of changes, sources as they tell
// ([Notifier]), and all else, as archives, every Poll. Where the system can watch no folder,
// or not all of them, everything is polled as well, and there is a diagnostic
// ([codeWatchLimited]). Watching ends with ctx, with [Watcher.Close], or with the catalog.
func Watch(ctx context.Context, c *Catalog, opts WatchOptions) *Watcher {
	opts.Quiet = cmp.Or(max(opts.Quiet, 0), 200*time.Millisecond)
	opts.Latest = cmp.Or(max(opts.Latest, 0), 2*time.Second)
	opts.Poll = cmp.Or(max(opts.Poll, 0), 30*time.Second)
	opts.MaxWatches = cmp.Or(max(opts.MaxWatches, 0), 4096)
	ctx, stop := context.WithCancel(ctx)
	w := &Watcher{
		c: c.Whole(), opts: opts, stop: stop, done: make(chan struct{}), told: make(chan struct{}, 1),
		pace: pace{quiet: opts.Quiet, latest: opts.Latest}, watch: &watches{}, seen: c.Whole().Snapshot(),
	}
	for i, r := range c.roots {
		n, ok := c.sources[i].(Notifier)
		if own, isTree := c.sources[i].(*TreeSource); isTree && own.live {
			ok = false // the catalog watches it itself
		}
		if ok {
			w.quiet = append(w.quiet, n.Notify(w.tell))
		}
		w.polled = w.polled || !ok && r.isNamed()
	}
	go w.run(ctx)
	return w
}

// tell says that something has changed. It never blocks.
func (w *Watcher) tell() {
	select {
	case w.told <- struct{}{}:
	default:
	}
}

// Close ends watching; when it returns, no goroutine of it is left. Closing twice is
// harmless.
func (w *Watcher) Close() error {
	w.stop()
	<-w.done
	return nil
}

func (w *Watcher) run(ctx context.Context) {
	defer close(w.done)
	defer func() {
		for _, quiet := range w.quiet {
			quiet()
		}
		w.watch.close()
	}()
	w.arm()
	w.pace.changed(time.Now()) // what has changed since the catalog was opened
	timer, poll := time.NewTimer(0), time.NewTicker(w.opts.Poll)
	defer timer.Stop()
	defer poll.Stop()
	for {
		var due, polled <-chan time.Time
		if at, ok := w.pace.due(); ok {
			timer.Reset(time.Until(at))
			due = timer.C
		}
		if w.polled || w.watch.limited {
			polled = poll.C
		}
		events, lost := w.watch.channels()
		select {
		case <-ctx.Done():
			return
		case e := <-events:
			if w.watch.means(e) {
				w.pace.changed(time.Now())
			}
		case err := <-lost:
			w.c.cfg.logger.DebugContext(ctx, "changes of skills were lost", "error", err)
			w.pace.changed(time.Now())
		case <-w.told:
			w.pace.changed(time.Now())
		case <-polled:
			w.pace.changed(time.Now())
		case <-due:
			if !w.refresh(ctx) {
				return
			}
		}
	}
}

// refresh refreshes the catalog, and watches what there is then. It reports false when
// the catalog is closed.
func (w *Watcher) refresh(ctx context.Context) bool {
	w.pace.begun()
	snapshot, err := w.c.Refresh(ctx)
	switch {
	case ctx.Err() != nil:
		return true
	case errors.Is(err, ErrClosed):
		return false
	case isUntold(err):
		w.c.cfg.logger.WarnContext(ctx, "the skills cannot be read again", "error", err)
	}
	if w.arm() {
		w.pace.changed(time.Now()) // what has changed before it was watched
	}
	w.pace.ended(time.Now())
	if snapshot != w.seen {
		for _, changed := range w.c.cfg.changed {
			changed(ctx, snapshot)
		}
		if w.opts.Changed != nil {
			w.opts.Changed(ctx, snapshot)
		}
	}
	w.seen = snapshot
	return true
}

// arm watches the folders that the catalog has now, and reports whether they are other
// ones than before, or the finding about them is.
func (w *Watcher) arm() bool {
	next, err := w.watch.follow(w.c.watchedDirs(), w.opts.MaxWatches)
	if err != nil {
		w.c.cfg.logger.Warn("folders of skills cannot be watched", "error", err)
	}
	changed := next != w.watch
	w.watch = next
	var finding *skillmd.Diagnostic
	if next.limited {
		finding = &skillmd.Diagnostic{
			Code: codeWatchLimited, Severity: skillmd.Warning,
			Message: fmt.Sprintf("%d of %d folders are watched; changes in the others are found within %v", next.count, len(next.dirs), w.opts.Poll),
		}
	}
	if last := w.c.watching.Load(); (last == nil) != (finding == nil) || last != nil && *last != *finding {
		w.c.watching.Store(finding)
		changed = true
	}
	return changed
}

// pace says when a catalog that has changed is refreshed.
type pace struct {
	quiet, latest time.Duration
	first, last   time.Time // changes since the last refresh, zero for none
	refreshed     time.Time
}

func (p *pace) changed(now time.Time) {
	if p.last = now; p.first.IsZero() {
		p.first = now
	}
}

// due is when to refresh, if at all.
func (p *pace) due() (time.Time, bool) {
	if p.first.IsZero() {
		return time.Time{}, false
	}
	at := p.last.Add(p.quiet)
	if latest := p.first.Add(p.latest); latest.Before(at) {
		at = latest
	}
	if soonest := p.refreshed.Add(p.latest / 2); at.Before(soonest) {
		at = soonest
	}
	return at, true
}

// begun is called before a refresh and ended after it. A change between the two makes
// another refresh due.
func (p *pace) begun()              { p.first, p.last = time.Time{}, time.Time{} }
func (p *pace) ended(now time.Time) { p.refreshed = now }
