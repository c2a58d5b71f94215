package trace

import (
	"time"

	"github.com/satchel-go/satchel/core"
)

// agent is what is remembered of an agent besides its last request.
type agent struct {
	key  core.SessionKey
	turn int     // of the last turn line
	last callRef // the last call that was written
	// answered are the calls that made a tool call, by the id of that.
	answered map[string]callRef
	// held are events that wait for the next call. late are loads by the model, which wait for it
	// because it has the size of their texts.
	held, late []heldEvent
	heldSince  time.Time
	// loads are the calls that loaded a skill last, or selected a doc of it.
	loads map[textName]int
	// seen are the calls that loaded a text, by the number of its load.
	seen   map[seenText]int
	broken string // the cause of a break of the next request
}

type textName struct{ skill, doc string }

type seenText struct {
	textName
	load int
}

// agent returns what is remembered of an agent.
func (r *recorder) agent(key core.SessionKey) *agent {
	a, ok := r.agents.Get(key)
	if !ok {
		a = &agent{key: key}
		r.agents.Put(key, a, 1)
	}
	return a
}

// noteLoad remembers the call that loaded a skill or selected docs of it.
func (a *agent) noteLoad(e *core.Event, call int) {
	if a.loads == nil || len(a.loads)+len(a.seen) > maxLoads {
		a.loads, a.seen = map[textName]int{}, map[seenText]int{}
	}
	docs := e.Docs
	if e.Kind == core.SkillLoaded {
		docs = append([]string{""}, docs...)
	}
	for _, doc := range docs {
		name := textName{e.Skill, doc}
		a.loads[name] = call
		if text := (seenText{name, e.Load}); e.Load != 0 && a.seen[text] == 0 {
			a.seen[text] = call
		}
	}
}

// loadedBy returns the call that loaded a text, or 0. A text that is loaded again is a text of its
// own: each keeps the call of its load.
func (a *agent) loadedBy(p *core.PlacedText) int {
	name := textName{p.Skill, p.Doc}
	for _, text := range []seenText{{name, p.Load}, {textName{p.Skill, ""}, p.Load}} {
		if call := a.seen[text]; call != 0 && p.Load != 0 {
			return call
		}
	}
	if call := a.loads[name]; call != 0 {
		return call
	}
	return a.loads[textName{p.Skill, ""}]
}

// noteAnswer remembers the tool calls of an answer.
func (a *agent) noteAnswer(calls []core.ToolCall, ref callRef) {
	if a.answered == nil || len(a.answered) > maxToolCalls {
		a.answered = map[string]callRef{}
	}
	for i := range calls {
		if id := calls[i].ID; id != "" {
			a.answered[id] = ref
		}
	}
}
