package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/skillmd"
)

// sources opens the directories and the MCP servers that skills come from, and the directory of
// created skills.
func (f *serveFlags) sources(ctx context.Context, c cli.Console, k *resources, insecure bool) ([]protocol.Option, error) {
	var opts []protocol.Option
	for _, place := range f.Skills {
		skills, err := f.openPlace(ctx, c, k, place)
		if err != nil {
			return nil, err
		}
		opts = append(opts, protocol.WithSkills(skills))
	}
	servers, err := places.ConnectServers(ctx, c, f.MCP, insecure)
	if err != nil {
		return nil, err
	}
	for _, s := range servers {
		opts = append(opts, protocol.WithRemoteSkills(s.Label, s.Source))
	}
	if f.Shelf == "" {
		return opts, nil
	}
	if err := os.MkdirAll(f.Shelf, 0o700); err != nil {
		return nil, fmt.Errorf("--shelf: %w", err)
	}
	key, err := cursorKey(filepath.Join(f.Shelf, ".cursor-key"))
	if err != nil {
		return nil, err
	}
	opts = append(opts, protocol.WithCreatedSkills(f.Shelf), protocol.WithCursorKey(key))
	if f.Create {
		opts = append(opts, protocol.WithCreate())
	}
	return opts, nil
}

// openPlace opens a place of skills that --skills names.
func (f *serveFlags) openPlace(ctx context.Context, c cli.Console, k *resources, place string) (catalog.Source, error) {
	root, err := f.FetchFlags.Root(ctx, c, nil, place)
	if err != nil {
		return nil, fmt.Errorf("--skills %s: %w", place, err)
	}
	if skills := root.Source(); skills != nil {
		return &fetchedSource{Source: skills, name: root.String()}, nil
	}
	tree, err := source.Open(ctx, root, source.Reading{})
	switch info, missing := os.Stat(place); {
	case err == nil:
		k.open = append(k.open, tree)
		return tree, nil
	case root.IsArchive(): // the error says what is wrong
	case missing == nil && !info.IsDir():
		return nil, fmt.Errorf("--skills %s: it is neither a directory nor an archive", place)
	case strings.Contains(err.Error(), "; remove it"): // a link, and what to do about it
	case errors.Is(missing, fs.ErrNotExist):
		return nil, fmt.Errorf("--skills %s: there is no such directory; make it, or name another", place)
	}
	return nil, fmt.Errorf("--skills %s: %w", place, err)
}

// follow lists the skills again when they change, and at SIGHUP, until it is closed.
func follow(skills *protocol.Server, hangups <-chan os.Signal, findings io.Writer) closing {
	var mu sync.Mutex // over shown, what was reported and still holds
	shown := skills.Diagnostics()
	report := func(found []skillmd.Diagnostic) {
		mu.Lock()
		defer mu.Unlock()
		places.WriteFindings(findings, slices.DeleteFunc(slices.Clone(found), func(d skillmd.Diagnostic) bool { return slices.Contains(shown, d) }))
		shown = skills.Diagnostics()
	}
	ctx, cancel := context.WithCancel(context.Background())
	stop, ended := skills.Watch(report), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
				if skills.Refresh(ctx) == nil {
					report(skills.Diagnostics())
				}
			}
		}
	}()
	return func() error {
		stop()
		cancel()
		<-ended
		return nil
	}
}

// closing is an io.Closer.
type closing func() error

// Close implements io.Closer.
func (c closing) Close() error { return c() }
