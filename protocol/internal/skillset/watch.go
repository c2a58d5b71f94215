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
	near, far, done := make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
	s.watchers.Add(1)
	var quiet []func()
	for _, skills := range s.sources {
		changes, watched := near, skills
		if r, ok := skills.(*remote); ok {
			changes, watched = far, r.Source
		}
		n, ok := watched.(source.Notifier)
		if !ok {
			continue
		}
		quiet = append(quiet, n.Notify(func() {
			if changes == near {
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
		s.watch(ctx, near, far, report)
	}()
	return func() {
		cancel()
		for _, stop := range quiet {
			stop()
		}
		<-done
		s.watchers.Add(-1)
	}
}

func (s *Set) watch(ctx context.Context, near, far <-chan struct{}, report func([]skillmd.Diagnostic)) {
	var look <-chan time.Time
	if s.created != nil {
		ticker := time.NewTicker(watchCreated)
		defer ticker.Stop()
		look = ticker.C
	}
	seen := s.Diagnostics()
	for {
		gap, refresh := watchGap, s.RefreshIfOld
		select {
		case <-ctx.Done():
			return
		case <-look:
			s.created.refresh(ctx)
			continue
		case <-near:
		case <-far:
			gap, refresh = remoteGap, s.Refresh
		}
		if refresh(ctx) != nil {
			return // ctx has ended
		}
		seen = reportNew(seen, s.Diagnostics(), report)
		select {
		case <-time.After(gap):
		case <-ctx.Done():
			return
		}
	}
}

// reportNew reports the findings that were not among the last ones.
func reportNew(before, now []skillmd.Diagnostic, report func([]skillmd.Diagnostic)) []skillmd.Diagnostic {
	found := slices.DeleteFunc(slices.Clone(now), func(d skillmd.Diagnostic) bool { return slices.Contains(before, d) })
	if len(found) > 0 && report != nil {
		report(found)
	}
	return now
}
