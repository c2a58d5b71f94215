package trace

import (
	"time"

	"github.com/satchel-go/satchel/core"
)

// agent is what is remembered of an agent besides its last request.
type agent struct {
	key        core.SessionKey
	isSubagent bool    // another agent of the session came first
	turn       int     // of the last turn line
	last       callRef // the last call that was written
	// answered are the calls that made a tool call, by the id of that.
	answered map[string]callRef
	// held are events that wait for the next call. late are loads by the model, which wait for it
	// because it has the size of their texts.
	held, late []heldEvent
	heldSince  time.Time
	sizes      map[placedText]int // tokens of the texts of the last request
	broken     string             // the cause of a break of the next request
}

// placedText is a text of a request, by the number of its load.
type placedText struct {
	skill, doc string
	load       int
}

// placedSize is the size of a text in tokens.
type placedSize struct{ load, tokens int }

// agent returns what is remembered of an agent.
func (r *recorder) agent(key core.SessionKey) *agent {
	a, ok := r.agents.Get(key)
	if !ok {
		a = &agent{key: key}
		r.agents.Put(key, a, 1)
	}
	return a
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
