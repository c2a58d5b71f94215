package needs

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
)

// search is a program to look for on a PATH of commands.
type search struct{ path, program string }

// Machine is where the commands of skills run.
type Machine interface {
	// SearchPath returns the PATH of a skill's commands. It has no directory of a workspace.
	SearchPath(ctx context.Context, skill core.Skill, from *catalog.Catalog) (string, error)
	// FindPrograms looks for programs by name on each PATH, and returns those that exist.
	FindPrograms(ctx context.Context, wanted map[string][]string) (found map[string][]string, err error)
	// System returns the system of the commands, by the name of Go.
	System() string
}

// Prober looks in the background for the programs that the skills of a catalog need. It keeps what
// it finds, so it looks for each program once on each PATH. It looks again for a missing one if a
// caller asks later, because people install programs. Make one with [NewProber].
type Prober struct {
	machine Machine
	catalog *catalog.Catalog
	log     *slog.Logger
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	work    sync.WaitGroup

	mu        sync.Mutex
	isClosed  bool
	known     map[search]bool
	paths     map[string]string // by the id of a skill, of the snapshot covered
	covered   *catalog.Snapshot // the snapshot of the last probe, nil for none
	looked    time.Time         // when the last probe began that did not fail
	isMissing bool              // it did not find every program
	// fetched are the skills of Await, by id, and awaited counts their revisions.
	fetched   map[string]core.Skill
	awaited   int
	failed    time.Time // when the last probe failed, zero if it did not
	isProbing bool
	ended     chan struct{} // closed when the present probe ends
}

// NewProber returns the prober of a catalog. The caller closes it.
func NewProber(machine Machine, skills *catalog.Catalog, log *slog.Logger) *Prober {
	p := &Prober{machine: machine, catalog: skills.WithoutAudience(), log: log, known: map[search]bool{}, fetched: map[string]core.Skill{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Close ends the probe that runs, and waits for it.
func (p *Prober) Close() error {
	p.mu.Lock()
	p.isClosed = true
	p.mu.Unlock()
	p.cancel()
	p.work.Wait()
	return nil
}

// Want begins a probe if the catalog has changed since the last one, or if programs were missing a
// while ago. It does not wait.
func (p *Prober) Want() { p.want() }

// want is Want. It returns a channel that is closed when the probe ends, nil if none is needed.
func (p *Prober) want() <-chan struct{} {
	snapshot := p.catalog.Snapshot()
	p.mu.Lock()
	defer p.mu.Unlock()
	isCovered := p.covered == snapshot
	isOld := p.isMissing && time.Since(p.looked) >= lookAgainAfter
	if p.isClosed || isCovered && !isOld || !p.failed.IsZero() && time.Since(p.failed) < retryAfter {
		return nil
	}
	if !p.isProbing {
		p.isProbing, p.ended = true, make(chan struct{})
		awaited := p.awaited
		p.work.Go(func() { p.probe(p.ctx, snapshot, awaited, isOld) })
	}
	if isCovered { // what is known holds until the probe has ended
		return nil
	}
	return p.ended
}

// Wait returns when the programs of the present skills were looked for, or when ctx ends.
func (p *Prober) Wait(ctx context.Context) {
	for ended := p.want(); ended != nil && ctx.Err() == nil; ended = p.want() {
		select {
		case <-ended:
		case <-ctx.Done():
		}
	}
}

// Await is Wait for a skill whose needs were read after the catalog had listed it. It returns at once
// if the programs of the skill were looked for.
func (p *Prober) Await(ctx context.Context, skill core.Skill) {
	listed, err := p.catalog.Snapshot().Resolve(skill.ID)
	if err != nil || len(programs(listed.Needs)) > 0 || len(programs(skill.Needs)) == 0 {
		return
	}
	p.mu.Lock()
	if known, ok := p.fetched[skill.ID]; !ok || known.Revision != skill.Revision {
		p.fetched[skill.ID] = skill
		p.awaited++
		p.covered = nil
	}
	p.mu.Unlock()
	p.Wait(ctx)
}

// Program returns a function that says whether commands of a skill find a program, nil if that is
// not known yet.
func (p *Prober) Program(skill core.Skill) func(name string) Verdict {
	p.mu.Lock()
	path, ok := p.paths[skill.ID]
	p.mu.Unlock()
	if !ok {
		return nil
	}
	return func(name string) Verdict {
		p.mu.Lock()
		defer p.mu.Unlock()
		isFound, ok := p.known[search{path, name}]
		if !ok {
			return Unknown
		}
		return Of(isFound)
	}
}

// System returns the system of commands, by the name of Go.
func (p *Prober) System() string { return p.machine.System() }

// probe looks for the programs of a snapshot that are not known yet, and with again also for those
// that were missing. awaited is the value of p.awaited when the probe begins.
func (p *Prober) probe(ctx context.Context, snapshot *catalog.Snapshot, awaited int, again bool) {
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	paths, wanted := p.searches(limited, snapshot, again)
	found := map[string][]string{}
	err := limited.Err()
	if err == nil && len(wanted) > 0 {
		found, err = p.machine.FindPrograms(limited, wanted)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isProbing = false
	close(p.ended)
	if err != nil {
		if p.failed = time.Now(); ctx.Err() == nil {
			p.log.Warn("programs that skills need cannot be looked for", "error", err)
		}
		return
	}
	p.failed, p.paths, p.looked = time.Time{}, paths, began
	if p.covered = nil; p.awaited == awaited {
		p.covered = snapshot
	}
	for _, is := range []bool{false, true} {
		names := wanted
		if is {
			names = found
		}
		for path, programs := range names {
			for _, name := range programs {
				p.known[search{path, name}] = is
			}
		}
	}
	p.isMissing = false
	for _, is := range p.known {
		p.isMissing = p.isMissing || !is
	}
}

// searches returns the PATH of each skill that needs programs, and by PATH the names that are not
// known, or with again not found.
func (p *Prober) searches(ctx context.Context, snapshot *catalog.Snapshot, again bool) (paths map[string]string, wanted map[string][]string) {
	paths, wanted = map[string]string{}, map[string][]string{}
	isWanted := map[search]bool{}
	for _, skill := range p.withFetched(snapshot) {
		names := programs(skill.Needs)
		if len(names) == 0 {
			continue
		}
		path, err := p.machine.SearchPath(ctx, skill, p.catalog)
		if err != nil {
			continue // its programs are not judged
		}
		paths[skill.ID] = path
		for _, name := range names {
			s := search{path, name}
			p.mu.Lock()
			isFound, isKnown := p.known[s]
			p.mu.Unlock()
			if (!isKnown || again && !isFound) && !isWanted[s] && len(isWanted) < maxPrograms {
				isWanted[s] = true
				wanted[path] = append(wanted[path], name)
			}
		}
	}
	return paths, wanted
}

// withFetched returns the skills of a snapshot, and those of Await that it has.
func (p *Prober) withFetched(snapshot *catalog.Snapshot) []core.Skill {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := snapshot.Skills()
	for id, skill := range p.fetched {
		if listed, err := snapshot.Resolve(id); err != nil || listed.Revision != skill.Revision {
			delete(p.fetched, id)
			continue
		}
		all = append(slices.Clip(all), skill)
	}
	return all
}

// programs returns the programs in needs.
func programs(n *core.Needs) []string {
	if n == nil {
		return nil
	}
	names := n.Bins[:len(n.Bins):len(n.Bins)]
	for _, any := range n.AnyBins {
		names = append(names, any...)
	}
	return names
}
