package conversation_test

import (
	"fmt"
	"slices"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// disturb is what happens to a host between two steps.
func (c *conversation) disturb() {
	skill := c.world.Names()[c.rnd.IntN(len(c.world.Names()))]
	switch n := c.rnd.IntN(100); {
	case n < 10:
		c.world.EditBody(skill)
		c.note("disk: body of %s is now v%d", skill, c.world.Skills[skill].Body)
	case n < 16:
		doc := fmt.Sprintf("d%d.md", c.rnd.IntN(3))
		c.world.EditDoc(skill, doc)
		c.note("disk: %s of %s is now v%d", doc, skill, c.world.Skills[skill].Docs[doc])
	case n < 22:
		c.changeCatalog(skill)
	case n < 28:
		c.note("runtime restarts")
		c.start()
	case n < 30:
		c.note("store is lost")
		c.store = session.NewMemory()
		c.lose()
		for _, a := range c.agents {
			a.ended = 0
		}
		c.start()
	case n < 31:
		c.note("session ends")
		c.must(c.runtime.EndSession(c.t.Context(), "chat"))
		for _, a := range c.agents {
			if a.known {
				a.ended = c.messages
			}
		}
		c.lose()
	case n < 32:
		c.note("session is cleared")
		c.must(c.runtime.Clear(satchel.WithSession(c.t.Context(), "chat")))
		for _, a := range c.agents {
			a.oracle.clear()
			a.begin = nil
		}
	}
}

func (c *conversation) lose() {
	for _, a := range c.agents {
		a.known, a.begin = false, nil
	}
}

func (c *conversation) changeCatalog(skill string) {
	switch c.rnd.IntN(3) {
	case 0:
		c.world.Describe(skill)
		c.note("catalog: %s has a new description", skill)
	case 1:
		if _, ok := c.world.Skills["s9"]; ok {
			c.world.Remove("s9")
			c.note("catalog: s9 is gone")
		} else {
			c.world.Add("s9")
			c.note("catalog: s9 is new")
		}
	}
	c.must(c.runtime.Refresh(c.t.Context()))
	c.listing = c.world.Listing()
}

// userTurn begins a turn with a message of the user.
func (c *conversation) userTurn(a *agent) {
	if c.chance(15) {
		c.truncate(a)
	}
	text, declares := "go on", c.chance(15)
	if c.mode == loadmode.Adaptive && len(a.oracle.loaded) > 0 || a.oracle.keeps && len(a.oracle.ended) > 0 {
		declares = false // the declaration would depend on the texts that the request leaves in view
	}
	if c.chance(50) || declares || a.cut > 0 && a.restart {
		// Equal messages are ambiguous if the host cuts its history and then
		// restarts, or cuts the message that matters.
		text = fmt.Sprintf("question %d: what does {x} in <available_skills> mean?", c.messages)
	}
	m := c.message(core.User, text)
	a.history = append(a.history, m)
	a.open, a.fresh, a.user, a.loads = true, true, m.id, nil
	ctx := satchel.WithSession(c.t.Context(), a.key.Session)
	if c.tokens {
		ctx = satchel.BeginTurn(ctx, fmt.Sprintf("turn-%d", m.id))
	}
	if declares {
		names := c.world.Names()[:5] // only skills that are never removed: a declared load that fails is an error
		for _, i := range c.rnd.Perm(len(names))[:1+c.rnd.IntN(min(2, c.max))] {
			a.loads = append(a.loads, satchel.Load{Skill: names[i], Docs: []string{"d1.md"}[:c.rnd.IntN(2)]})
		}
		ctx = satchel.WithLoads(ctx, a.loads...)
	}
	a.turn = ctx
	c.note("%s: user #%d %q declares %v", a.key.Agent, m.id, text, a.loads)
}

// truncate drops old messages, as hosts do with a window or a summary.
func (c *conversation) truncate(a *agent) {
	first := 0
	if c.system {
		first = 1
	}
	var starts []int
	for i := first + a.cut; i < len(a.history); i++ {
		if r := a.history[i].Role; r == core.Assistant || r == core.User && !a.history[i].Rewritten {
			starts = append(starts, i-first)
		}
	}
	if len(starts) < 2 {
		return
	}
	a.cut = starts[1+c.rnd.IntN(len(starts)-1)]
	a.summary = a.summary || c.chance(40)
	a.alive = false
	c.note("%s: host drops %d messages, summary %v", a.key.Agent, a.cut, a.summary)
}

// request is what the host would send.
func (a *agent) request() []stored {
	first := 0
	if len(a.history) > 0 && a.history[0].Role == core.System {
		first = 1
	}
	return append(slices.Clone(a.history[:first]), a.history[first+a.cut:]...)
}
