package source

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/satchel-go/satchel/catalog/internal/scan"
)

var _ Notifier = (*Tree)(nil)

// Notify implements [Notifier]: changed is called soon after a file or folder of the tree
// was made, changed, moved or deleted, as the system tells of it. As some file systems
// tell nothing, changed is called now and then too: each second where folders cannot be
// watched, and less often the longer a Scan takes.
func (s *Tree) Notify(changed func()) (stop func()) {
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
func (s *Tree) follow(ctx context.Context, scanned <-chan struct{}, changed func()) {
	ws := &scan.Watches{}
	defer func() { ws.Close() }()
	pace := scan.Pace{Quiet: sourceQuiet, Latest: sourceLatest}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		dirs, took := s.watchedDirs()
		next, _ := ws.Follow(dirs, maxWatched) // what cannot be watched is polled
		if next != ws {
			ws = next
			pace.Changed(time.Now()) // what has changed before it was watched
		}
		share := time.Duration(pollShare)
		if ws.Limited || len(dirs) == 0 {
			share = unwatchedShare
		}
		poll := time.Now().Add(min(max(took*share, leastPoll), mostPoll))
		for again := false; !again; {
			at, due := pace.Due()
			if !due || poll.Before(at) {
				at = poll
			}
			timer.Reset(time.Until(at))
			events, lost := ws.Channels()
			select {
			case <-ctx.Done():
				return
			case <-scanned:
				again = true
			case e := <-events:
				if !ws.Concerns(e) {
					continue
				}
				if _, due := pace.Due(); !due {
					changed() // at once, and when it is quiet again
				}
				pace.Changed(time.Now())
			case <-lost: //nolint:errcheck // the next listing says why
				pace.Changed(time.Now())
			case <-timer.C:
				pace.Begin()
				changed()
				pace.End(time.Now())
				again = true
			}
		}
	}
}

// watchedDirs are the folders of the tree, and those that lead to it; and how long the
// last Scan took.
func (s *Tree) watchedDirs() ([]scan.WatchedDir, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	base := s.place.Absolute()
	if base == "" {
		return nil, s.scanTime
	}
	all := append(scan.WatchDirs(base), scan.WatchedDir{Path: base})
	for _, dir := range s.dirs {
		all = append(all, scan.WatchedDir{Path: filepath.Join(base, filepath.FromSlash(dir))})
	}
	return all, s.scanTime
}

// notifyListeners tells the listeners that the folders may be other ones. It expects s.mu to be held.
func (s *Tree) notifyListeners(began time.Time) {
	s.scanTime = time.Since(began)
	for _, c := range s.listeners {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
