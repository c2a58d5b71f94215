package turn

import (
	"context"
	"time"

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

// RefreshOnChange calls refresh after skills reports changes, until stop is called. It waits a
// moment first, so the call that made a change is answered before. It calls failed with an error
// of refresh.
func RefreshOnChange(skills source.Source, refresh func(context.Context) error, failed func(error)) (stop func() error) {
	n, ok := skills.(source.Notifier)
	if !ok {
		return func() error { return nil }
	}
	changed := make(chan struct{}, 1)
	quiet := n.Notify(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	end := RunInBackground(func(ctx context.Context) {
		for {
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
			if !sleep(ctx, refreshDelay) {
				return
			}
			select {
			case <-changed: // the refresh finds this change too
			default:
			}
			if err := refresh(ctx); err != nil && ctx.Err() == nil {
				failed(err)
			}
			if !sleep(ctx, refreshPause) {
				return
			}
		}
	})
	return func() error {
		quiet()
		return end()
	}
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
