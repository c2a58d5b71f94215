package otel

import (
	"context"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/lru"
)

// skillCounters count for each skill how often it was offered, suggested, loaded and used.
type skillCounters struct {
	offered, suggested, loaded, used, tokens metric.Int64Counter

	mu    sync.Mutex
	names map[string]bool // those with a count of their own
	// offers are the skills that agents were offered last.
	offers *lru.Cache[core.SessionKey, *offer]
}

// offer holds the skills that an agent was offered in a turn, sorted.
type offer struct {
	turn   int
	skills []string
}

func newSkillCounters(b *builder) *skillCounters {
	return &skillCounters{
		offered:   b.count("satchel.skill.offered", "{turn}", "Turns in which the model was offered the skill, by description or by name."),
		suggested: b.count("satchel.skill.suggested", "{turn}", "Turns in which the skill was suggested."),
		loaded:    b.count("satchel.skill.loaded", "{load}", "Loads of the skill, by the model, the user or the host."),
		used:      b.count("satchel.skill.used", "{use}", "Runs of the skill's commands, reads of its docs and answers that name it."),
		tokens:    b.count("satchel.skill.tokens", "{token}", "Estimated tokens of the texts that loads of the skill brought."),
		names:     make(map[string]bool),
		offers:    lru.New[core.SessionKey, *offer](maxAgents, nil),
	}
}

// otherSkill counts for all skills beyond the first maxSkillNames.
const otherSkill = "other"

// name returns the name under which a skill counts.
func (c *skillCounters) name(skill string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.names[skill] {
		return skill
	}
	if len(c.names) >= maxSkillNames {
		return otherSkill
	}
	c.names[skill] = true
	return skill
}

// record counts what an event says about skills.
func (c *skillCounters) record(ctx context.Context, e *core.Event, agent attribute.KeyValue) {
	add := func(counter metric.Int64Counter, n int, skill string, more ...attribute.KeyValue) {
		counter.Add(ctx, int64(n), metric.WithAttributes(append(more, skillName.String(c.name(skill)), agent)...))
	}
	switch e.Kind {
	case core.SkillsOffered, core.ModelCalled, core.ModelFailed:
		for _, name := range c.newlyOffered(e) {
			add(c.offered, 1, name)
		}
	case core.SkillsSuggested:
		for _, name := range e.Skills {
			add(c.suggested, 1, name)
		}
	case core.SkillLoaded:
		add(c.loaded, 1, e.Skill, loadedBy.String(loader(e)))
		if e.Tokens > 0 {
			add(c.tokens, e.Tokens, e.Skill)
		}
	case core.SkillUsed:
		add(c.used, 1, e.Skill)
	}
}

// loader returns who asked for a load.
func loader(e *core.Event) string {
	if e.By == "" {
		return "host"
	}
	return e.By
}

// newlyOffered returns the skills that an agent is offered in a turn and that were not counted in this
// turn before. An offer lasts until the next one: a model call in a later turn repeats it.
func (c *skillCounters) newlyOffered(e *core.Event) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	last, ok := c.offers.Get(e.Key)
	if e.Kind != core.SkillsOffered {
		if !ok || e.Turn <= last.turn {
			return nil
		}
		last.turn = e.Turn
		return last.skills
	}
	now := &offer{turn: e.Turn, skills: slices.Concat(e.Skills, e.Named)}
	slices.Sort(now.skills)
	now.skills = slices.Compact(now.skills)
	c.offers.Put(e.Key, now, 1)
	if !ok || e.Turn != last.turn {
		return now.skills
	}
	return slices.DeleteFunc(slices.Clone(now.skills), func(name string) bool {
		_, counted := slices.BinarySearch(last.skills, name)
		return counted
	})
}
