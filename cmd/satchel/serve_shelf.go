package main

import (
	"context"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/protocol/shelf"
)

// openShelf lists the skills of directories and of MCP servers.
func (f *serveFlags) openShelf(ctx context.Context, c console, k *kiosk, insecure bool) (*shelf.Shelf, error) {
	var sources []catalog.Source
	for _, dir := range f.Skills {
		source, err := catalog.OpenSource(catalog.Dir(dir))
		if err != nil {
			return nil, err
		}
		sources = append(sources, source)
	}
	servers, err := connect(ctx, c, f.MCP, insecure)
	if err != nil {
		return nil, err
	}
	for _, s := range servers {
		sources = append(sources, shelf.Remote(s.label, s.source))
	}
	skills, err := shelf.Open(ctx, f.Shelf, sources...)
	if err != nil {
		return nil, err
	}
	k.open = append(k.open, skills)
	if len(servers) > 0 {
		k.open = append(k.open, follow(ctx, skills, servers))
	}
	return skills, nil
}

// followGap is how long nobody lists again after that was done, however often a
// server says that its skills have changed.
const followGap = 2 * time.Second

// follow lists the skills again when a server tells of a change, until it is closed.
func follow(ctx context.Context, skills *shelf.Shelf, servers []served) *follower {
	ctx, cancel := context.WithCancel(ctx)
	f := &follower{cancel: cancel, ended: make(chan struct{})}
	told := make(chan struct{}, 1)
	for _, s := range servers {
		f.stops = append(f.stops, s.source.Notify(func() {
			select {
			case told <- struct{}{}:
			default:
			}
		}))
	}
	go func() {
		defer close(f.ended)
		for {
			select {
			case <-told:
			case <-ctx.Done():
				return
			}
			if skills.Refresh(ctx) != nil {
				return // ctx has ended
			}
			select {
			case <-time.After(followGap):
			case <-ctx.Done():
				return
			}
		}
	}()
	return f
}

// follower is what follow has begun.
type follower struct {
	cancel context.CancelFunc
	stops  []func()
	ended  chan struct{}
}

// Close implements io.Closer.
func (f *follower) Close() error {
	f.cancel()
	for _, stop := range f.stops {
		stop()
	}
	<-f.ended
	return nil
}
