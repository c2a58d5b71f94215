package conversation_test

import (
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/tools"
)

// Events say why the authority of a load ends, and why each of its texts leaves.
func TestTraceOfEndings(t *testing.T) {
	type chat = *chattest.Chat
	load := func(c chat) {
		c.Calls(`skill_load {"skill":"s0","docs":["d0.md"]}`)
		c.View()
	}
	nextTurn := func(c chat) {
		c.Turn("next")
		c.View()
	}
	for name, c := range map[string]struct {
		loading satchel.Loading
		play    func(c chat, w *chattest.World)
		want    []string
	}{
		"unloaded": {
			play: func(c chat, _ *chattest.World) { c.Calls(`skill_unload {"skills":["s0"]}`) },
			want: []string{
				"skill.unloaded skill=s0 id=id-2", "skill.completed skill=s0 id=id-2 detail=unloaded",
				"text.cleared skill=s0 docs=d0.md load=1 id=id-2 cause=unload detail=its load has ended",
			},
		},
		"unloaded by the host": {
			play: func(c chat, _ *chattest.World) {
				if err := c.Runtime.Clear(adapter.WithKey(c.Context, c.Key)); err != nil {
					t.Error(err)
				}
			},
			want: []string{
				"skill.unloaded skill=s0", "skill.completed skill=s0 detail=unloaded",
				"text.cleared skill=s0 docs=d0.md load=1 cause=unload detail=its load has ended",
			},
		},
		"turn": {
			loading: satchel.Loading{Mode: loadmode.Turn}, play: func(c chat, _ *chattest.World) { nextTurn(c) },
			want: []string{
				"skill.completed skill=s0 detail=turn", "text.cleared skill=s0 docs=d0.md load=1 cause=unload detail=its load has ended",
			},
		},
		"turn, in the system message": {
			loading: satchel.Loading{Placement: processors.InSystem}, play: func(c chat, _ *chattest.World) { nextTurn(c) },
			want: []string{
				"skill.completed skill=s0 detail=turn", "text.cleared skill=s0 docs=d0.md load=1 cause=unload detail=its load has ended",
			},
		},
		"adaptive": {play: func(c chat, _ *chattest.World) { nextTurn(c) }, want: []string{"skill.completed skill=s0 detail=turn"}},
		"once": {
			loading: satchel.Loading{Mode: loadmode.Once}, play: func(c chat, _ *chattest.World) { c.Answer("done") },
			want: []string{
				"skill.completed skill=s0 detail=answered", "text.cleared skill=s0 docs=d0.md load=1 cause=unload detail=its load has ended",
			},
		},
		"once is over before its turn": {
			loading: satchel.Loading{Mode: loadmode.Once}, play: func(c chat, _ *chattest.World) { nextTurn(c) },
			want: []string{
				"skill.completed skill=s0 detail=answered", "text.cleared skill=s0 docs=d0.md load=1 cause=unload detail=its load has ended",
			},
		},
		"once, and evicted after its answer": {
			loading: satchel.Loading{Mode: loadmode.Once, Max: 1},
			play: func(c chat, _ *chattest.World) {
				c.Calls("skill_load s1")
				c.View()
			},
			want: []string{
				"skill.completed skill=s0 detail=answered", "text.cleared skill=s0 docs=d0.md load=1 cause=unload detail=its load has ended",
			},
		},
		"once, and unloaded after its answer": {
			loading: satchel.Loading{Mode: loadmode.Once}, play: func(c chat, _ *chattest.World) { c.Calls(`skill_unload {"all":true}`) },
			want: []string{
				"skill.completed skill=s0 detail=answered", "text.cleared skill=s0 docs=d0.md load=1 cause=unload detail=its load has ended",
				"skill.unloaded skill=s0 id=id-2",
			},
		},
		"evicted": {
			loading: satchel.Loading{Max: 1}, play: func(c chat, _ *chattest.World) { c.Calls("skill_load s1") },
			want: []string{"skill.completed skill=s0 id=id-2 detail=evicted"},
		},
		"evicted with its text": {
			loading: satchel.Loading{Max: 1, Placement: processors.InSystem}, play: func(c chat, _ *chattest.World) { c.Calls("skill_load s1") },
			want: []string{
				"skill.completed skill=s0 id=id-2 detail=evicted", "text.cleared skill=s0 docs=d0.md load=1 id=id-2 cause=unload detail=its load has ended",
			},
		},
		"replaced": {
			play: func(c chat, _ *chattest.World) { c.Calls(`skill_load {"skill":"s1","mode":"replace"}`) },
			want: []string{
				"skill.unloaded skill=s0 id=id-2", "skill.completed skill=s0 id=id-2 detail=replaced",
				"text.cleared skill=s0 docs=d0.md load=1 id=id-2 cause=unload detail=its load has ended",
			},
		},
		"changed": {
			play: func(c chat, w *chattest.World) {
				w.EditBody("s0")
				if err := c.Runtime.Refresh(c.Context); err != nil {
					t.Error(err)
				}
				c.Calls("skill_load s0")
				c.Calls("skill_load s1", `skill_unload {"skills":["s1"]}`)
			},
			want: []string{
				"skill.unloaded skill=s0 id=id-2 detail=changed", "skill.unloaded skill=s1 id=id-4", "skill.completed skill=s1 id=id-4 detail=unloaded",
				"text.cleared skill=s0 docs=d0.md load=1 id=id-4 cause=break detail=a newer text has replaced it",
				"text.cleared skill=s1 load=3 id=id-4 cause=unload detail=its load has ended",
			},
		},
		"a doc": {
			play: func(c chat, _ *chattest.World) { c.Calls(`skill_select_docs {"skill":"s0","mode":"clear"}`) },
			want: []string{"text.cleared skill=s0 docs=d0.md load=1 id=id-2 cause=unload detail=its load has ended"},
		},
		"shortened": {
			loading: satchel.Loading{Mode: loadmode.Session},
			play: func(c chat, _ *chattest.World) {
				if err := c.Runtime.Compact(adapter.WithKey(c.Context, c.Key), "s0"); err != nil {
					t.Error(err)
				}
				nextTurn(c)
			},
			want: []string{"text.cleared skill=s0 docs=d0.md load=1 cause=budget detail=the text of skills in view takes too much"},
		},
		"again": {
			play: func(c chat, _ *chattest.World) {
				c.Context = adapter.WithAttempt(t.Context(), new(int))
				c.Messages = c.Messages[:1]
				c.View()
			},
			want: []string{
				"skill.completed skill=s0 detail=again", "text.cleared skill=s0 docs=d0.md load=1 cause=unload detail=its load has ended",
			},
		},
		"budget": {
			loading: satchel.Loading{Budget: tools.Budget{Warn: -1, Max: 30}},
			play: func(c chat, _ *chattest.World) {
				nextTurn(c)
				c.Calls("skill_load s1")
			},
			want: []string{
				"skill.completed skill=s0 detail=turn",
				"text.cleared skill=s0 docs=d0.md load=1 id=id-2 cause=budget detail=the text of skills in view takes too much",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, log := chattest.NewWorld(2), &eventLog{}
			chat := chattest.NewChat(t, chattest.Open(t, w.Files, satchel.WithTrace(log), satchel.WithLoading(c.loading)))
			chat.Say(core.User, "hi")
			load(chat)
			log.lines()
			c.play(chat, w)
			chattest.Same(t, "events", log.lines(core.SkillUnloaded, core.SkillCompleted, core.TextCleared), c.want...)
		})
	}
}

// An event of a cleared text has the digest of the body only if the body has left.
func TestClearedBodies(t *testing.T) {
	w, log := chattest.NewWorld(1), &eventLog{}
	c := chattest.NewChat(t, chattest.Open(t, w.Files, satchel.WithTrace(log))).Say(core.User, "hi")
	c.Calls(`skill_load {"skill":"s0","docs":["d0.md"]}`, `skill_select_docs {"skill":"s0","mode":"clear"}`, `skill_unload {"skills":["s0"]}`)
	var bodies []bool
	for _, e := range log.events {
		if e.Kind == core.TextCleared {
			bodies = append(bodies, e.Digest != "")
		}
	}
	if len(bodies) != 2 || bodies[0] || !bodies[1] {
		t.Errorf("cleared with a body: %v, want the doc without one and then the body", bodies)
	}
}
