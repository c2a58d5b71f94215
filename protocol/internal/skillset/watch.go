package skillset

import (
	"context"
	"slices"
	"time"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/skillmd"
)

// Watch refreshes the set when a source reports a change ([source.Notifier]). Each second
// it also looks for skills that other servers have created in its directory. It ends when the
// caller calls stop. report, if not nil, gets each new diagnostic.
func (s *Set) Watch(report func([]skillmd.Diagnostic)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	localChanges, remoteChanges, done := make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
	s.watchers.Add(1)
	var unsubscribes []func()
	for _, skills := range s.sources {
		changes, watched := localChanges, skills
		if r, ok := skills.(*remote); ok {
			changes, watched = remoteChanges, r.Source
		}
		n, ok := watched.(source.Notifier)
		if !ok {
			continue
		}
		unsubscribes = append(unsubscribes, n.Notify(func() {
			if changes == localChanges {
				s.stale.Store(true)
			}
			select {
			case changes <- struct{}{}:
			default:
			}
		}))
	}
	go func() {
		defer close(done)
		s.watch(ctx, localChanges, remoteChanges, report)
	}()
	return func() {
		cancel()
		for _, unsubscribe := range unsubscribes {
			unsubscribe()
		}
		<-done
		s.watchers.Add(-1)
	}
}

// watch refreshes the set after each change until ctx ends.
func (s *Set) watch(ctx context.Context, localChanges, remoteChanges <-chan struct{}, report func([]skillmd.Diagnostic)) {
	var ticks <-chan time.Time
	if s.created != nil {
		ticker := time.NewTicker(watchCreated)
		defer ticker.Stop()
		ticks = ticker.C
	}
	last := s.Diagnostics()
	for {
		gap, refresh := watchGap, s.RefreshIfOld
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			s.created.refresh(ctx)
			continue
		case <-localChanges:
		case <-remoteChanges:
			gap, refresh = remoteGap, s.Refresh
		}
		if refresh(ctx) != nil {
			return // ctx has ended
		}
		current := s.Diagnostics()
		reportNew(last, current, report)
		last = current
		select {
		case <-time.After(gap):
		case <-ctx.Done():
			return
		}
	}
}

// reportNew reports the diagnostics that are current and were not before.
func reportNew(before, current []skillmd.Diagnostic, report func([]skillmd.Diagnostic)) {
	added := slices.DeleteFunc(slices.Clone(current), func(d skillmd.Diagnostic) bool { return slices.Contains(before, d) })
	if len(added) > 0 && report != nil {
		report(added)
	}
}
