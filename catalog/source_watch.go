package catalog

import (
	"context"
	"path/filepath"
	"slices"
	"time"
)

var _ Notifier = (*TreeSource)(nil)

// The bounds of how a source looks for changes of its tree.
const (
	sourceQuiet   = 100 * time.Millisecond
	sourceLatest  = time.Second
	maxWatched    = 1 << 16 // folders; mostly the system allows fewer
	leastPoll     = time.Second
	mostPoll      = 30 * time.Second
	pollsShare    = 100 // a poll takes at most this part of the time
	unwatchedPart = 10  // the same where the system does not tell of all changes
)

// Notify implements [Notifier]: changed is called soon after a file or folder of the tree
// was made, changed, moved or deleted, as the system tells of it. As some file systems
// tell nothing, changed is called now and then too: each second where folders cannot be
// watched, and less often the longer a Scan takes.
func (s *TreeSource) Notify(changed func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	scanned, done := make(chan struct{}, 1), make(chan struct{})
	s.mu.Lock()
	s.listeners = append(s.listeners, scanned)
	s.mu.Unlock()
	go func() {
		defer close(done)
		s.follow(ctx, scanned, changed)
	}()
	return func() {
		cancel()
		<-done
		s.mu.Lock()
		defer s.mu.Unlock()
		s.listeners = slices.DeleteFunc(s.listeners, func(c chan struct{}) bool { return c == scanned })
	}
}

// follow calls changed until ctx ends. After each Scan it watches the folders that there
// are then.
func (s *TreeSource) follow(ctx context.Context, scanned <-chan struct{}, changed func()) {
	ws := &watches{}
	defer func() { ws.close() }()
	pace := pace{quiet: sourceQuiet, latest: sourceLatest}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		dirs, took := s.watchedDirs()
		next, err := ws.follow(dirs, maxWatched)
		if err != nil {
			s.cfg.logger.DebugContext(ctx, "folders of skills cannot be watched", "error", err)
		}
		if next != ws {
			ws = next
			pace.changed(time.Now()) // what has changed before it was watched
		}
		share := time.Duration(pollsShare)
		if ws.limited || len(dirs) == 0 {
			share = unwatchedPart
		}
		poll := time.Now().Add(min(max(took*share, leastPoll), mostPoll))
		for again := false; !again; {
			at, due := pace.due()
			if !due || poll.Before(at) {
				at = poll
			}
			timer.Reset(time.Until(at))
			events, lost := ws.channels()
			select {
			case <-ctx.Done():
				return
			case <-scanned:
				again = true
			case e := <-events:
				if !ws.means(e) {
					continue
				}
				if _, due := pace.due(); !due {
					changed() // at once, and when it is quiet again
				}
				pace.changed(time.Now())
			case <-lost: //nolint:errcheck // the next listing says why
				pace.changed(time.Now())
			case <-timer.C:
				pace.begun()
				changed()
				pace.ended(time.Now())
				again = true
			}
		}
	}
}

// watchedDirs are the folders of the tree, and those that lead to it; and how long the
// last Scan took.
func (s *TreeSource) watchedDirs() ([]watchedDir, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	base := s.root.absolute()
	if base == "" {
		return nil, s.took
	}
	all := append(watchDirs(base), watchedDir{path: base})
	for _, dir := range s.dirs {
		all = append(all, watchedDir{path: filepath.Join(base, filepath.FromSlash(dir))})
	}
	return all, s.took
}

// told tells the listeners that the folders may be other ones. It expects s.mu to be held.
func (s *TreeSource) told(began time.Time) {
	s.took = time.Since(began)
	for _, c := range s.listeners {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
