package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
)

// never is longer than a test, so that polling finds nothing.
const never = 24 * time.Hour

// watchCatalog watches a catalog. It returns a function that waits until a skill has this description,
// or until there is no such skill if the description is "".
func watchCatalog(t *testing.T, c *Catalog, opts WatchOptions) (w *watcher, wait func(name, description string)) {
	t.Helper()
	changes := make(chan struct{}, 1)
	opts.Changed = func(context.Context, *Snapshot) {
		select {
		case changes <- struct{}{}:
		default:
		}
	}
	if opts.Poll == 0 {
		opts.Poll = never
	}
	w = c.watchWith(t.Context(), opts)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, func(name, description string) {
		t.Helper()
		late := time.After(2 * time.Minute)
		for {
			if skill, _ := c.Snapshot().Skill(name); skill.Description == description {
				return
			}
			select {
			case <-changes:
			case <-late:
				t.Fatalf("%s was never %q: %+v", name, description, c.Snapshot().Skills())
			}
		}
	}
}

func TestWatch(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"pdf/SKILL.md": skillText("pdf", "Reads PDF files.", "")})
	optional := filepath.Join(t.TempDir(), "home", ".agents", "skills")
	c := mustOpen(t, []source.Root{source.Dir(dir), source.Dir(optional).Optional()})
	// The edit comes before the watch begins.
	write(t, dir, map[string]string{"pdf/SKILL.md": skillText("pdf", "Version 1.", "")})
	_, wait := watchCatalog(t, c, WatchOptions{Quiet: 10 * time.Millisecond, Latest: 100 * time.Millisecond})
	wait("pdf", "Version 1.")
	write(t, dir, map[string]string{"pdf/SKILL.md": skillText("pdf", "Version 2.", "")})
	wait("pdf", "Version 2.")
	write(t, dir, map[string]string{"far/below/new/SKILL.md": skillText("new", "Is new.", "")})
	wait("new", "Is new.")
	write(t, dir, map[string]string{"far/below/new/SKILL.md": skillText("new", "Is edited.", "")})
	wait("new", "Is edited.")
	if err := os.RemoveAll(filepath.Join(dir, "far")); err != nil {
		t.Fatal(err)
	}
	wait("new", "")
	write(t, optional, map[string]string{"late/SKILL.md": skillText("late", "Its root was not there.", "")})
	wait("late", "Its root was not there.")
	write(t, optional, map[string]string{"late/SKILL.md": skillText("late", "Is watched.", "")})
	wait("late", "Is watched.")
}

// The catalog is refreshed when a source reports a change.
func TestWatchSources(t *testing.T) {
	s := &notifyingSource{}
	s.set("Version 1.")
	c := mustOpen(t, []source.Root{source.From("db", s)})
	w, wait := watchCatalog(t, c, WatchOptions{Quiet: time.Millisecond, Latest: 10 * time.Millisecond})
	for n := range 5 {
		s.set(fmt.Sprint("Version ", n))
		s.tell()
		wait("pdf", fmt.Sprint("Version ", n))
	}
	if err := w.Close(); err != nil || s.changed != nil {
		t.Errorf("the source still tells: %v", err)
	}
}

// notifyingSource is a source with one skill that reports its changes.
type notifyingSource struct {
	Source
	listing atomic.Pointer[source.Listing]
	changed func()
}

func (s *notifyingSource) set(description string) {
	s.listing.Store(&source.Listing{Entries: []source.Entry{{ID: "pdf", Revision: description, Head: []byte(skillText("pdf", description, ""))}}})
}
func (s *notifyingSource) tell() { s.changed() }
func (s *notifyingSource) Scan(context.Context, *source.Listing) (*source.Listing, error) {
	return s.listing.Load(), nil
}
func (s *notifyingSource) Notify(changed func()) (stop func()) {
	s.changed = changed
	return func() { s.changed = nil }
}

// If not all folders can be watched, the catalog polls, and has a finding.
func TestWatchIsLimited(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/SKILL.md": skillText("a", "Is there.", ""), "b/SKILL.md": skillText("b", "Is there.", "")})
	c := mustOpen(t, []source.Root{source.Dir(dir)})
	w, wait := watchCatalog(t, c, WatchOptions{Quiet: time.Millisecond, Latest: 10 * time.Millisecond, Poll: 20 * time.Millisecond, MaxWatches: 1})
	write(t, dir, map[string]string{"b/SKILL.md": skillText("b", "Is edited.", "")})
	wait("b", "Is edited.")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err := c.Refresh(t.Context()); err != nil || !strings.Contains(fmt.Sprint(s.Diagnostics()), " folders are watched; changes in the others are found within 20ms") {
		t.Errorf("diagnostics %v, %v", s.Diagnostics(), err)
	}
}

// Even if files keep changing, the catalog is refreshed at most twice in Latest.
func TestWatchIsNotBusy(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"pdf/SKILL.md": skillText("pdf", "Reads PDF files.", "")})
	var searches atomic.Int64
	c := mustOpen(t, []source.Root{source.Dir(dir).In(core.ScopeProject)}, WithTrust(func(context.Context, source.Root) (bool, error) {
		searches.Add(1)
		return true, nil
	}))
	_, wait := watchCatalog(t, c, WatchOptions{})
	begun := time.Now()
	for n := range 1000 {
		write(t, dir, map[string]string{"pdf/SKILL.md": skillText("pdf", fmt.Sprint("Version ", n), "")})
	}
	wait("pdf", "Version 999")
	if n, most := searches.Load(), 3+int64(time.Since(begun)/time.Second); n > most {
		t.Errorf("%d searches in %v, want at most %d", n, time.Since(begun), most)
	}
}

func TestWatchEnds(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"pdf/SKILL.md": skillText("pdf", "Reads PDF files.", "")})
	for what, end := range map[string]func(*Catalog, *watcher, context.CancelFunc) error{
		"Close":       func(_ *Catalog, w *watcher, _ context.CancelFunc) error { return w.Close() },
		"its context": func(_ *Catalog, w *watcher, stop context.CancelFunc) error { stop(); <-w.done; return nil },
		"its catalog": func(c *Catalog, w *watcher, _ context.CancelFunc) error {
			err := c.Close()
			w.notice()
			<-w.done
			return err
		},
		"Close, twice": func(_ *Catalog, w *watcher, _ context.CancelFunc) error { _ = w.Close(); return w.Close() },
	} {
		t.Run(what, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			c := mustOpen(t, []source.Root{source.Dir(dir)})
			w := c.watchWith(ctx, WatchOptions{Quiet: time.Millisecond, Latest: time.Millisecond, Poll: never})
			if err := end(c, w, stop); err != nil {
				t.Fatal(err)
			}
			for late := time.Now().Add(time.Minute); ; runtime.Gosched() { // the last goroutine may be about to return
				stacks := make([]byte, 1<<20)
				text := string(stacks[:runtime.Stack(stacks, true)])
				if !strings.Contains(text, "catalog.(*watcher)") && !strings.Contains(text, "fsnotify.(") {
					return
				}
				if time.Now().After(late) {
					t.Fatalf("goroutines are left:\n%s", text)
				}
			}
		})
	}
}

func TestPace(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(1_000_000 + int64(ms)) }
	p := scan.Pace{Quiet: 200 * time.Millisecond, Latest: 2 * time.Second}
	want := func(what string, ms int) {
		t.Helper()
		if due, ok := p.Due(); !ok || !due.Equal(at(ms)) {
			t.Errorf("%s: due at %v, %t, want %v", what, due, ok, at(ms))
		}
	}
	if _, ok := p.Due(); ok {
		t.Error("nothing has changed, and something is due")
	}
	p.Changed(at(0))
	want("a change", 200)
	p.Changed(at(150))
	want("another", 350)
	for ms := 150; ms < 1950; ms += 50 {
		p.Changed(at(ms))
	}
	want("many", 2000)
	p.Begin()
	if _, ok := p.Due(); ok {
		t.Error("refreshed, and something is due")
	}
	p.End(at(2100))
	p.Changed(at(2150))
	want("soon after a refresh", 3100)
	p.Begin()
	p.Changed(at(3150)) // a change during the refresh
	p.End(at(3200))
	want("during a refresh", 4200)
}
