package satchel

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/internal/agentstate"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools/run"
)

// New opens the skills and returns a runtime. It fails for options that cannot
// work and for a place of skills that cannot be opened; a skill that cannot be
// read is a diagnostic ([Runtime.Diagnostics]) and hides nothing else.
func New(opts ...Option) (*Runtime, error) {
	s := defaults()
	for _, o := range opts {
		if o == nil {
			continue
		}
		if err := o(&s); err != nil {
			return nil, err
		}
	}
	if s.shared != nil && (len(s.roots) > 0 || len(s.reading) > 0) {
		return nil, fmt.Errorf("%w: WithCatalog excludes WithSkillDirs, WithSkillFS, WithSkillRoots and WithReading", ErrOption)
	}
	s.stock()
	r := &Runtime{
		settings:  s,
		anonymous: session.NewMemory(),
		states:    agentstate.New(agentstate.Max),
		names:     permission.NewNames(s.tooling...),
	}
	if s.vocabulary != nil && s.vocabulary.InSystem && !s.placed {
		r.placement = processors.InSystem
	}
	r.chain = processors.Chain(r.placement)
	r.store = session.NewPinCache(s.store, 0)
	if r.judge.Home == "" {
		r.judge.Home, _ = os.UserHomeDir() // without one, "~" is just a name
	}
	if r.runner == nil && r.executes() {
		r.runner = &run.Runner{}
	}
	if r.runner != nil && r.commands != nil {
		r.runner.Policy = *r.commands
	}
	r.equip()
	if err := r.choose(); err != nil {
		return nil, errors.Join(err, r.unequip())
	}
	if r.catalog = s.shared; r.catalog == nil {
		opened, err := catalog.Open(context.Background(), s.roots, append(s.reading, catalog.WithLogger(s.logger))...)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open skills: %w", err), r.unequip())
		}
		r.catalog = opened
	}
	r.audiences = agentstate.Audiences{Catalog: r.catalog, Of: r.asked()}
	if err := r.offer(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.warnUnavailable()
	if r.source != nil && r.shared == nil {
		r.closers = append(r.closers, follow(r.source, r.Refresh, func(err error) { r.logger.Warn("the skills cannot be read again", "error", err) }))
	}
	r.watchSkills()
	return r, nil
}

// watchSkills refreshes the skills when they change, where the host wants it.
func (r *Runtime) watchSkills() {
	if r.watch == nil {
		return
	}
	opts := *r.watch
	opts.Changed = func(ctx context.Context, s *catalog.Snapshot) {
		r.tellScanned(ctx)
		if r.watch.Changed != nil {
			r.watch.Changed(ctx, s)
		}
	}
	r.closers = append(r.closers, catalog.Watch(context.Background(), r.catalog, opts).Close)
}
