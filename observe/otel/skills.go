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
	// offers are the skills that agents were offered last, and views the texts in their requests.
	offers *lru.Cache[core.SessionKey, *offer]
	views  *lru.Cache[core.SessionKey, textSizes]
}

// textSizes are the tokens of the texts in the requests of an agent, by their loads.
type textSizes map[loadedText]int

// loadedText is what one load has brought of a skill.
type loadedText struct {
	skill string
	load  int
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
		tokens:    b.count("satchel.skill.tokens", "{token}", "Estimated tokens of the skill's texts in all requests."),
		names:     make(map[string]bool),
		offers:    lru.New[core.SessionKey, *offer](maxAgents, nil),
		views:     lru.New[core.SessionKey, textSizes](maxAgents, nil),
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
		for skill, tokens := range c.inView(e) {
			add(c.tokens, tokens, skill)
		}
	case core.SkillsSuggested:
		for _, name := range e.Skills {
			add(c.suggested, 1, name)
		}
	case core.SkillLoaded:
		add(c.loaded, 1, e.Skill, loadedBy.String(loader(e)))
		c.noteText(e)
	case core.DocsSelected, core.TextCleared, core.SkillCompleted:
		c.noteText(e)
	case core.SkillUsed:
		add(c.used, 1, e.Skill, useKind.String(e.Detail))
	}
}

// inView returns the tokens of the texts in the request of a model call, by their skills.
func (c *skillCounters) inView(e *core.Event) map[string]int {
	if e.Kind == core.SkillsOffered {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]int{}
	texts, _ := c.views.Get(e.Key)
	for t, tokens := range texts {
		all[t.skill] += tokens
	}
	return all
}

// noteText notes the texts that an event brings into the requests of its agent, or takes out of them.
// A text of which only docs leave counts as before.
func (c *skillCounters) noteText(e *core.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	texts, known := c.views.Get(e.Key)
	text := loadedText{e.Skill, e.Load}
	switch {
	case e.Kind == core.TextCleared && e.Digest != "":
		delete(texts, text)
	case e.Kind == core.SkillCompleted && e.Detail == "session":
		delete(texts, text) // a preloaded one
	case e.Kind == core.SkillLoaded || e.Kind == core.DocsSelected:
		if e.Tokens == 0 || len(texts) >= maxTexts {
			return
		}
		if !known {
			texts = textSizes{}
			c.views.Put(e.Key, texts, 1)
		}
		texts[text] += e.Tokens
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
