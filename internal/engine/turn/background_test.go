package turn

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/catalog"
)

// notifier is a source that only reports changes.
type notifier struct {
	catalog.Source
	changed func()
}

func (n *notifier) Notify(changed func()) (stop func()) {
	n.changed = changed
	return func() { n.changed = nil }
}

// Changes that come together are followed by one refresh more, and none comes after stop.
func TestRefreshOnChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &notifier{}
		var refreshed atomic.Int64
		var failures []error
		broken := errors.New("broken")
		stop := RefreshOnChange(n, func(context.Context) error { refreshed.Add(1); return broken }, func(err error) { failures = append(failures, err) })
		n.changed()
		n.changed()
		synctest.Wait()
		if refreshed.Load() != 0 {
			t.Error("a refresh began before the change was answered")
		}
		time.Sleep(refreshDelay)
		synctest.Wait()
		if refreshed.Load() != 1 || len(failures) != 1 || !errors.Is(failures[0], broken) {
			t.Errorf("%d refreshes, failures %v after a change", refreshed.Load(), failures)
		}
		n.changed()
		n.changed()
		changed := n.changed
		synctest.Wait()
		if refreshed.Load() != 1 {
			t.Errorf("%d refreshes at once", refreshed.Load())
		}
		time.Sleep(refreshPause + refreshDelay)
		synctest.Wait()
		if refreshed.Load() != 2 {
			t.Errorf("%d refreshes after changes that came together", refreshed.Load())
		}
		if err := stop(); err != nil || n.changed != nil {
			t.Errorf("stopped: %v, told still: %t", err, n.changed != nil)
		}
		changed()
		time.Sleep(refreshPause + refreshDelay)
		synctest.Wait()
		if refreshed.Load() != 2 {
			t.Errorf("%d refreshes after the end", refreshed.Load())
		}
	})
}

// A source that tells of nothing is not followed.
func TestFollowNothing(t *testing.T) {
	if err := RefreshOnChange(nil, nil, nil)(); err != nil {
		t.Error(err)
	}
}
