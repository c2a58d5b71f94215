package turn

import (
	"context"
	"time"

	"github.com/satchel-go/satchel/catalog/source"
)

// Do calls f and returns a function that ends it and waits for it.
func Do(f func(context.Context)) (stop func() error) {
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

// Follow calls refresh after a source has told of changes, until stop is called.
func Follow(skills source.Source, refresh func(context.Context) error, failed func(error)) (stop func() error) {
	n, ok := skills.(source.Notifier)
	if !ok {
		return func() error { return nil }
	}
	told := make(chan struct{}, 1)
	quiet := n.Notify(func() {
		select {
		case told <- struct{}{}:
		default:
		}
	})
	end := Do(func(ctx context.Context) {
		for {
			select {
			case <-ctx.Done():
				return
			case <-told:
			}
			if err := refresh(ctx); err != nil && ctx.Err() == nil {
				failed(err)
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(refreshPause):
			}
		}
	})
	return func() error {
		quiet()
		return end()
	}
}
