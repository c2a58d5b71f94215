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
	// held are events that wait for the next call.
	held      []heldEvent
	heldSince time.Time
	// loads are the calls that loaded a skill last, or selected a doc of it.
	loads map[textName]int
	// seen are the calls that loaded a text, by the number of its load.
	seen      map[seenText]int
	broken    string          // the cause of a break of the next request
	withdrawn map[string]bool // skills whose loads end for this reason
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

// noteLoad remembers the call that loaded a skill and docs of it.
func (a *agent) noteLoad(skill string, docs []string, call int) {
	if a.loads == nil || len(a.loads) > maxLoads {
		a.loads = map[textName]int{}
	}
	a.loads[textName{skill, ""}] = call
	a.noteDocs(skill, docs, call)
}

// noteDocs remembers the call that selected docs.
func (a *agent) noteDocs(skill string, docs []string, call int) {
	if a.loads == nil || len(a.loads) > maxLoads {
		a.loads = map[textName]int{}
	}
	for _, doc := range docs {
		name := textName{skill, doc}
		a.loads[name] = call
	}
}

// loadedBy returns the call that loaded a text, or 0. A text that is loaded again is a text of its
// own: each keeps the call of its load.
func (a *agent) loadedBy(p *core.PlacedText) int {
	name := textName{p.Skill, p.Doc}
	text := seenText{name, p.Load}
	if call, ok := a.seen[text]; ok && p.Load != 0 {
		return call
	}
	call, ok := a.loads[name]
	if !ok {
		call = a.loads[textName{p.Skill, ""}]
	}
	if p.Load != 0 && call != 0 {
		if a.seen == nil || len(a.seen) > maxLoads {
			a.seen = map[seenText]int{}
		}
		a.seen[text] = call
	}
	return call
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
