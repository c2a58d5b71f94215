package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/skillmd"
)

// Source is a place that skills come from; see [source.Source].
type Source = source.Source

// Catalog holds the skills of a list of roots. A catalog that [Catalog.For] returns shows only
// those that its audience may see. It is safe for concurrent use. Make one with [Open].
type Catalog struct {
	*catalogData
	audience *audience // nil shows all skills
	// revisions are the revisions of AtRevisions, by canonical id.
	revisions map[string]string
	// idByName are the names of WithNames and the canonical ids that they mean.
	idByName map[string]string
	hides    *hiding // of WithHidden, nil for none
}

// catalogData is the part of a catalog that the catalogs of all audiences share.
type catalogData struct {
	cfg    *config
	roots  []source.Root
	places []scan.Place // place i is that of root i
	names  []string     // name i stands before the locations of root i

	state       atomic.Pointer[state]
	closed      atomic.Bool
	updateToken chan struct{} // holds one token: the right to change state
	texts       textCache
	indexer     indexer
	vectors     *vectors // nil without an embedder
	derived     derivedCache
	cache       *cache
	// watchFinding says that a [Catalog.Watch] cannot watch all folders, or is nil.
	watchFinding atomic.Pointer[skillmd.Diagnostic]
	watcher      *watcher // of WithWatch, or nil
	// verification is the search in the background after Open has used the cache.
	verification sync.WaitGroup
}

// Open searches the roots for skills. It reads only the front matter of each SKILL.md. If two
// skills have the same name, the skill of the higher scope gets it, or else that of the earlier
// root; see [WithCollisions]. Without roots the catalog is empty.
//
// The error is that of ctx, or names an unusable option or a root that cannot be opened (see
// [source.Root.Optional]). A broken skill is no error but a diagnostic, see
// [Snapshot.Diagnostics]. Close the catalog after use.
func Open(ctx context.Context, roots []source.Root, opts ...Option) (*Catalog, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	c, err := open(ctx, cfg, roots)
	if err == nil && cfg.watch != nil {
		c.watcher = c.watchWith(context.WithoutCancel(ctx), *cfg.watch)
	}
	return c, err
}

func open(ctx context.Context, cfg *config, roots []source.Root) (*Catalog, error) {
	c := &Catalog{catalogData: &catalogData{
		cfg:         cfg,
		roots:       roots,
		places:      make([]scan.Place, len(roots)),
		updateToken: make(chan struct{}, 1),
		indexer:     indexer{token: make(chan struct{}, 1)},
		vectors:     newVectors(cfg.embedder),
	}}
	for i, r := range c.roots {
		if _, _, err := r.Name(); err != nil {
			return nil, fmt.Errorf("catalog: %w", err)
		}
		c.places[i] = scan.PlaceOf(r, r.Source() != nil)
	}
	c.names = displayNames(c.places)
	c.openCache()
	st, usedCache, err := c.search(ctx, &state{})
	if err != nil {
		return nil, err
	}
	if c.cache != nil {
		c.cache.roots = nil
	}
	c.state.Store(st)
	logDiagnostics(ctx, cfg.logger, nil, st.snapshot)
	if !usedCache {
		c.save(ctx)
		return c, nil
	}
	c.verification.Go(func() {
		if _, err := c.Refresh(context.WithoutCancel(ctx)); isUnreported(err) {
			cfg.logger.WarnContext(ctx, "the skills are those of the cache", "error", err)
		}
	})
	return c, nil
}

// Snapshot returns what the last search found. It never blocks and never returns
// nil, not even after Close.
func (c *Catalog) Snapshot() *Snapshot { return c.forAudience(c.state.Load().snapshot) }

// Refresh searches the roots again. It opens directories again by their paths, and parses the
// SKILL.md files whose size, modification time or identity has changed. It returns the new
// snapshot, or the same pointer as before if nothing in it has changed. A directory that
// cannot be searched any more keeps its skills. The error then holds a [RootError] for each
// such directory, and the other roots are searched as usual. On any other error the catalog
// does not change, and Refresh returns the current snapshot with the error.
func (c *Catalog) Refresh(ctx context.Context) (*Snapshot, error) {
	select {
	case c.updateToken <- struct{}{}:
	case <-ctx.Done():
		return c.Snapshot(), ctx.Err()
	}
	defer func() { <-c.updateToken }()
	old := c.state.Load()
	if c.closed.Load() {
		return c.forAudience(old.snapshot), fmt.Errorf("catalog: refresh: %w", fs.ErrClosed)
	}
	st, _, err := c.search(ctx, old)
	if err != nil || st == old {
		return c.forAudience(old.snapshot), errors.Join(err, c.lostRoots(old))
	}
	if st.snapshot.equal(old.snapshot) {
		st.snapshot = old.snapshot
	}
	c.state.Store(st)
	closeTrees(old.roots, st.roots)
	c.save(ctx)
	if st.snapshot != old.snapshot {
		logDiagnostics(ctx, c.cfg.logger, old.snapshot, st.snapshot)
	}
	return c.forAudience(st.snapshot), c.lostRoots(st)
}

// Close releases the directories, after the search that [WithCache] promises. Snapshots
// stay valid, but reading content fails with fs.ErrClosed. Closing twice is harmless.
func (c *Catalog) Close() error {
	var err error
	if c.watcher != nil {
		err = c.watcher.Close()
	}
	c.verification.Wait()
	c.updateToken <- struct{}{}
	defer func() { <-c.updateToken }()
	if c.closed.Swap(true) {
		return err
	}
	closeTrees(c.state.Load().roots, nil)
	return err
}

// search searches all roots. It returns old if nothing in them has changed. The first search
// takes what it can from the cache. usedCache reports that it did, so that the roots must be
// searched again.
func (c *Catalog) search(ctx context.Context, old *state) (st *state, usedCache bool, err error) {
	roots := make([]*rootState, len(c.roots))
	defer func() {
		if err != nil {
			closeTrees(roots, old.roots)
		}
	}()
	var extra []skillmd.Diagnostic
	watching := c.watchFinding.Load()
	changed := old.snapshot == nil || watching != old.watchFinding
	for i := range c.roots {
		var last *rootState
		if i < len(old.roots) {
			last = old.roots[i]
		}
		next, findings, isCached, err := c.nextRoot(ctx, i, last, old.snapshot == nil, roots[:i])
		if err != nil {
			return nil, false, err
		}
		roots[i] = next
		extra = append(extra, findings...)
		usedCache = usedCache || isCached
		changed = changed || next != last
	}
	if !changed {
		return old, false, nil
	}
	for i, root := range roots {
		if root.wasSearched() && len(root.found) == 0 {
			extra = append(extra, scan.NoSkills(c.names[i], c.roots[i].String()))
		}
	}
	if watching != nil {
		extra = append(extra, *watching)
	}
	st = c.merge(roots, extra)
	st.watchFinding = watching
	return st, usedCache, nil
}

// nextRoot searches root i and returns its new state, or last if nothing has changed. earlier are
// the states of the roots before it. In the first search, the state comes from the cache if
// possible; isCached reports that. The findings are about the root as a whole.
func (c *Catalog) nextRoot(ctx context.Context, i int, last *rootState, isFirst bool, earlier []*rootState) (next *rootState, findings []skillmd.Diagnostic, isCached bool, err error) {
	if trusted, why := c.isTrusted(ctx, c.roots[i]); !trusted {
		if last == nil || !last.isUntrusted {
			last = &rootState{isUntrusted: true, project: c.roots[i].Project()}
		}
		return last, c.untrustedFinding(i, why, earlier), false, nil
	}
	if last != nil && last.isUntrusted {
		last = nil
	}
	if isFirst {
		last, isCached = c.restore(i)
	}
	if next = last; !isCached {
		if next, err = c.searchRoot(ctx, i, last); err != nil {
			return nil, nil, false, err
		}
	}
	first := sameTree(earlier, next)
	if first < 0 {
		return next, nil, isCached, nil
	}
	if last == nil || !last.isRepeat || last.listing != next.listing || last.live != next.live {
		last = &rootState{listing: next.listing, live: next.live, isRepeat: true}
	}
	return last, []skillmd.Diagnostic{c.sameRoot(i, first)}, isCached, nil
}

// sameTree returns the index of an earlier root that is the same directory as root,
// or -1.
func sameTree(earlier []*rootState, root *rootState) int {
	dir, ok := root.tree().(*scan.DirTree)
	if !ok {
		return -1
	}
	return slices.IndexFunc(earlier, func(e *rootState) bool {
		other, ok := e.tree().(*scan.DirTree)
		return ok && os.SameFile(other.Info, dir.Info)
	})
}

func (c *Catalog) sameRoot(i, first int) skillmd.Diagnostic {
	return skillmd.Diagnostic{
		File:     c.names[i],
		Code:     codeSameRoot,
		Severity: skillmd.Info,
		Message:  fmt.Sprintf("the same directory as the root %s: not searched again", c.names[first]),
	}
}

// closeTrees closes the trees of roots that are not in keep. A reader that is still using one
// gets fs.ErrClosed, and withPlace reads again.
func closeTrees(roots, keep []*rootState) {
	kept := make(map[scan.Tree]bool)
	for _, k := range keep {
		for _, t := range k.trees() {
			kept[t] = true
		}
	}
	for _, r := range roots {
		for _, t := range r.trees() {
			if !kept[t] {
				_ = t.Close()
			}
		}
	}
}

// withPlace calls read with the place of a skill. A refresh may take the skill's files away
// meanwhile, because the directory was swapped or the source does not keep old revisions. Then
// withPlace calls read again with the new state.
func (c *Catalog) withPlace(ctx context.Context, name string, read func(*state, place, core.Skill) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		st := c.state.Load()
		if c.closed.Load() {
			return fmt.Errorf("catalog: skill %q: %w", name, fs.ErrClosed)
		}
		skill, err := c.resolve(st, name)
		if err != nil {
			return fmt.Errorf("catalog: %w", err)
		}
		p, err := c.place(ctx, st, &skill)
		if err == nil {
			err = read(st, p, skill)
		}
		if err == nil || !isStale(err) || c.state.Load() == st {
			return err
		}
	}
}

// resolve returns the skill that a name means in the catalog.
func (c *Catalog) resolve(st *state, name string) (core.Skill, error) {
	s := c.forAudience(st.snapshot)
	if i, ok := s.byID[c.idByName[name]]; ok {
		skill := s.skills[i]
		skill.Name = name
		return skill, nil
	}
	return s.Resolve(name)
}

// isStale reports whether reading may succeed with a newer state of the catalog.
func isStale(err error) bool {
	return scan.IsClosed(err) || errors.Is(err, source.ErrGone) || errors.Is(err, source.ErrDigest)
}

// place returns the place of a skill, with the tree that its files are in. If AtRevisions has
// another revision of the skill, place changes *skill to that revision. If place fetches the files of
// the skill, *skill gets the fields of the SKILL.md among them.
func (c *Catalog) place(ctx context.Context, st *state, skill *core.Skill) (place, error) {
	p := st.places[skill.ID]
	if p.entry == nil {
		p.tree = st.areas[p.area].tree
	} else {
		err := c.moveToRevision(ctx, &p, skill)
		if err == nil {
			p.tree, err = openEntry(ctx, c.roots[p.root].Source(), p.entry)
		}
		if err == nil && p.fetched != nil {
			err = c.addFetched(&p, skill)
		}
		if err != nil {
			return p, fmt.Errorf("catalog: skill %q: %w", skill.Name, err)
		}
	}
	if len(c.cfg.withoutFiles) > 0 && p.tree != nil {
		p.tree = &partialTree{Tree: p.tree, base: p.dir, skills: st.areas[p.area].skills, without: c.cfg.withoutFiles}
	}
	return p, nil
}

// Path returns the absolute path of a skill's SKILL.md, as the operating system
// opens it. It returns false for an unknown name, and for a skill of a file system or a
// source, because these have no such path.
func (c *Catalog) Path(name string) (path string, ok bool) {
	skill, ok := c.Snapshot().Skill(name)
	return skill.Location, ok && skill.RootDir != ""
}

// audience is the key and the filter of [Catalog.For].
type audience struct {
	key   string
	allow func(core.Skill) bool
}

// For returns the catalog as an audience sees it: as if there were only the skills for which
// allow returns true. The catalog keeps the result under key until the skills change. So allow
// must be a pure function, and always the same one for a key. It gets each skill with the name
// in its front matter.
//
// The catalogs of all audiences share everything else, so closing one closes all.
func (c *Catalog) For(key string, allow func(core.Skill) bool) *Catalog {
	return &Catalog{catalogData: c.catalogData, audience: &audience{key, allow}}
}

// WithoutAudience returns the catalog with all its skills, without an audience.
func (c *Catalog) WithoutAudience() *Catalog { return &Catalog{catalogData: c.catalogData} }

// forAudience returns the skills of s that the catalog shows.
func (c *Catalog) forAudience(s *Snapshot) *Snapshot {
	if c.audience == nil && c.hides == nil {
		return s
	}
	return c.derive(s)
}
