package catalog

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/skillmd"
)

// Catalog holds the skills of a list of roots. Its methods may be called from
// many goroutines at once. Make one with [Open].
type Catalog struct {
	cfg   *config
	roots []Root
	names []string // of the roots, in locations

	state    atomic.Pointer[state]
	closed   atomic.Bool
	updating chan struct{} // holds one token: the right to change state
	texts    textCache
}

// Open searches the roots for skills. Of two skills with the same name that of
// the earlier root wins. Only the front matter of each SKILL.md is read.
//
// The error names a root that cannot be opened at all (see [Root.Optional]) or
// an option without sense, or is that of ctx. Broken skills are no error; see
// [Snapshot.Diagnostics]. Without roots the catalog is empty.
func Open(ctx context.Context, roots []Root, opts ...Option) (*Catalog, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	c := &Catalog{
		cfg:      cfg,
		roots:    slices.Clone(roots),
		names:    displayNames(roots),
		updating: make(chan struct{}, 1),
	}
	st, err := c.search(ctx, &state{})
	if err != nil {
		return nil, err
	}
	c.state.Store(st)
	logDiagnostics(ctx, cfg.logger, st.snapshot)
	return c, nil
}

// Snapshot is the catalog as the last search found it. It never blocks and is
// never nil, also after Close.
func (c *Catalog) Snapshot() *Snapshot { return c.state.Load().snapshot }

// Refresh searches the roots again, opening directories anew by their path,
// and parses the SKILL.md files whose size, modification time or identity has
// changed. It returns the new snapshot, or the current one (the same pointer)
// if nothing in it has changed. On an error the catalog stays as it is, and
// the current snapshot is returned with it.
func (c *Catalog) Refresh(ctx context.Context) (*Snapshot, error) {
	select {
	case c.updating <- struct{}{}:
	case <-ctx.Done():
		return c.Snapshot(), ctx.Err()
	}
	defer func() { <-c.updating }()
	old := c.state.Load()
	if c.closed.Load() {
		return old.snapshot, fmt.Errorf("catalog: refresh: %w", ErrClosed)
	}
	st, err := c.search(ctx, old)
	if err != nil {
		return old.snapshot, err
	}
	if st.snapshot.equal(old.snapshot) {
		st.snapshot = old.snapshot
	}
	c.state.Store(st)
	closeTrees(old.trees, st.trees)
	if st.snapshot != old.snapshot {
		logDiagnostics(ctx, c.cfg.logger, st.snapshot)
	}
	return st.snapshot, nil
}

// Close releases the directories. Snapshots stay valid; reading content fails
// with [ErrClosed] afterwards. Closing twice is harmless.
func (c *Catalog) Close() error {
	c.updating <- struct{}{}
	defer func() { <-c.updating }()
	if c.closed.Swap(true) {
		return nil
	}
	closeTrees(c.state.Load().trees, nil)
	return nil
}

// search opens and searches all roots. It reuses the trees and the parsed
// files of old where they have not changed.
func (c *Catalog) search(ctx context.Context, old *state) (st *state, err error) {
	trees := make([]tree, len(c.roots))
	defer func() {
		if err != nil {
			closeTrees(trees, old.trees)
		}
	}()
	scans := make([]scan, len(c.roots))
	var extra []skillmd.Diagnostic
	for i, root := range c.roots {
		var prev tree
		var known map[string]record
		if i < len(old.trees) {
			prev, known = old.trees[i], old.files[i]
		}
		t, err := openTree(root, prev)
		if err != nil {
			return nil, fmt.Errorf("catalog: open root %q: %w", root, err)
		}
		if t == nil {
			continue
		}
		trees[i] = t
		if first := sameTree(trees[:i], t); first >= 0 {
			extra = append(extra, c.sameRoot(i, first))
			continue
		}
		s := &scanner{cfg: c.cfg, tree: t, name: c.names[i], dirName: root.dirName(), known: known, now: time.Now()}
		if scans[i], err = s.run(ctx); err != nil {
			return nil, fmt.Errorf("catalog: search root %q: %w", root, err)
		}
	}
	return merge(trees, scans, extra), nil
}

// sameTree finds the directory t among the trees of earlier roots, or -1.
func sameTree(earlier []tree, t tree) int {
	dir, ok := t.(*dirTree)
	if !ok {
		return -1
	}
	return slices.IndexFunc(earlier, func(e tree) bool {
		other, ok := e.(*dirTree)
		return ok && os.SameFile(other.info, dir.info)
	})
}

func (c *Catalog) sameRoot(i, first int) skillmd.Diagnostic {
	return skillmd.Diagnostic{
		File:     c.names[i],
		Code:     CodeSameRoot,
		Severity: skillmd.Info,
		Message:  fmt.Sprintf("the same directory as the root %s: not searched again", c.names[first]),
	}
}

// closeTrees closes the trees that are not among those to keep. A reader that
// still uses one gets ErrClosed and starts over (see within).
func closeTrees(trees, keep []tree) {
	for _, t := range trees {
		if t != nil && !slices.Contains(keep, t) {
			t.close()
		}
	}
}

// within calls read with the tree and the place of a skill. When a refresh
// closes the tree meanwhile, because its directory was swapped, it calls read
// again with the new one.
func (c *Catalog) within(ctx context.Context, name string, read func(*state, place, core.Skill) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		st := c.state.Load()
		if c.closed.Load() {
			return fmt.Errorf("catalog: skill %q: %w", name, ErrClosed)
		}
		skill, ok := st.snapshot.Skill(name)
		if !ok {
			return fmt.Errorf("catalog: %w %q", ErrUnknownSkill, name)
		}
		err := read(st, st.places[skillmd.CleanName(skill.Name)], skill)
		if err == nil || !isClosed(err) || c.state.Load() == st {
			return err
		}
	}
}
