package mcpsource

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Refresh asks the server for its skills and reports whether they differ from the last listing. If
// so, it notifies the watchers of the source ([Source.Notify]). It does not change the listing;
// only the next Catalog.Refresh does.
func (s *Source) Refresh(ctx context.Context) (changed bool, err error) {
	all, _, err := s.list(ctx)
	if err != nil {
		return false, err
	}
	now := make(map[string]string, len(all))
	for _, k := range all {
		now[k.entry.ID] = k.entry.Revision
	}
	s.mu.Lock()
	last := make(map[string]string, len(s.skills))
	for id, k := range s.skills {
		last[id] = k.entry.Revision
	}
	s.mu.Unlock()
	if maps.Equal(last, now) {
		return false, nil
	}
	s.callWatchers()
	return true, nil
}

// Notify implements source.Notifier. It calls changed when the server reports that its resources
// have changed, or every 30 seconds if the server sends no such reports.
func (s *Source) Notify(changed func()) (stop func()) {
	s.mu.Lock()
	s.lastWatcher++
	id := s.lastWatcher
	s.watchers[id] = changed
	s.mu.Unlock()
	done := make(chan struct{})
	if !s.announcesChanges {
		go func() {
			ticker := time.NewTicker(pollEvery)
			defer ticker.Stop()
			for {
				select {
				case <-ticker.C:
					changed()
				case <-done:
					return
				}
			}
		}()
	}
	return func() {
		s.mu.Lock()
		_, there := s.watchers[id]
		delete(s.watchers, id)
		s.mu.Unlock()
		if there {
			close(done)
		}
	}
}

// callWatchers calls the functions that Notify got.
func (s *Source) callWatchers() {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.watchers))
	s.mu.Unlock()
	for _, changed := range all {
		changed()
	}
}
