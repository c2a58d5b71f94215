package conversation_test

import (
	"maps"
	"reflect"
	"slices"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
)

// again lets the turn fail and the host run it again: what it has done is gone, and the
// first request is what it was. The host says so by its token, or the framework by its run.
func (c *conversation) again(a *agent) {
	begin, restart := a.begin, a.restart
	if !reflect.DeepEqual(begin.oracle.loaded, a.oracle.loaded) {
		again.Add(1)
	}
	*a = *begin.copied()
	a.begin, a.restart = begin, restart
	if turn := adapter.TurnOf(a.turn); turn != nil {
		a.turn = satchel.BeginTurn(a.turn, turn.Token)
	} else {
		a.turn = adapter.WithAttempt(a.turn, new(int))
	}
	c.note("%s: the turn of #%d is run again", a.key.Agent, a.user)
	c.prepare(a)
	if !reflect.DeepEqual(a.view, begin.view) {
		c.fail("%s: the turn begins again with %+v, first with %+v", a.key.Agent, a.view, begin.view)
	}
}

// copied is the agent as it is now.
func (a *agent) copied() *agent {
	now := *a
	now.history, now.notes = slices.Clone(a.history), slices.Clone(a.notes)
	o := *a.oracle
	o.loaded, o.ended = copiedLoads(o.loaded), copiedLoads(o.ended)
	o.old, o.gone, o.hidden, o.deltas = slices.Clone(o.old), maps.Clone(o.gone), maps.Clone(o.hidden), maps.Clone(o.deltas)
	now.oracle = &o
	return &now
}

func copiedLoads(these []*held) (all []*held) {
	for _, h := range these {
		h := *h
		h.docs = slices.Clone(h.docs)
		all = append(all, &h)
	}
	return all
}
