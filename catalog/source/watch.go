package source

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/satchel-go/satchel/catalog/internal/scan"
)

var _ Notifier = (*Tree)(nil)

// Notify implements [Notifier]. It calls changed soon after the system reports that a file or
// folder of the tree was created, changed, moved or deleted. Some file systems report nothing, so
// it also calls changed every 1 to 30 seconds, less often if a Scan takes long.
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

// follow calls changed until ctx ends. After each Scan, which sends on scanned, it watches the
// new folders.
func (s *Tree) follow(ctx context.Context, scanned <-chan struct{}, changed func()) {
	ws := &scan.Watches{}
	defer func() { ws.Close() }()
	pace := scan.Pace{Quiet: sourceQuiet, Latest: sourceLatest}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		dirs, took := s.watchedDirs()
		next, _ := ws.Follow(dirs, maxWatched) // folders that cannot be watched are polled
		if next != ws {
			ws = next
			pace.Changed(time.Now()) // files may have changed before their folders were watched
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
					changed() // now, and again when files have stopped changing
				}
				pace.Changed(time.Now())
			case <-lost: //nolint:errcheck // the next listing has the error
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

// watchedDirs returns the folders of the tree and those on the way to it. It also returns how
// long the last Scan took.
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

// notifyListeners tells the listeners that a Scan, which began at that time, has ended. It expects
// s.mu to be held.
func (s *Tree) notifyListeners(began time.Time) {
	s.scanTime = time.Since(began)
	for _, c := range s.listeners {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
