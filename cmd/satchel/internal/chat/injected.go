package chat

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
)

// InjectAll sets the flags so that a host can load all skills and the prompt has no overview.
func (f *Flags) InjectAll() {
	mode := loadmode.Session
	f.LoadMode, f.Placement, f.Search, f.MaxLoaded, f.Budget = &mode, "system", "off", 0, &contentBudget{}
	f.Activation, f.Mentions, f.Compact, f.References = "none", nil, nil, "off"
	f.unlisted = true
}

// AllSkills returns loads of all skills with their readable docs.
func AllSkills(ctx context.Context, rt *satchel.Runtime, skills []core.Skill, show *reporter) ([]satchel.Load, error) {
	var loads []satchel.Load
	for _, skill := range skills {
		names, err := rt.Catalog().Docs(ctx, skill.Name)
		if err != nil {
			return nil, fmt.Errorf("list docs of %q: %w", skill.Name, err)
		}
		load := satchel.Load{Skill: skill.Name}
		for _, name := range names {
			if _, err := rt.Catalog().Doc(ctx, skill.Name, name); err != nil {
				show.Warning(fmt.Sprintf("left out: %s of %s: %v", name, skill.Name, err))
				continue
			}
			load.Docs = append(load.Docs, name)
		}
		loads = append(loads, load)
	}
	return loads, nil
}
