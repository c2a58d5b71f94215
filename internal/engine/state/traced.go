package state

import (
	"slices"
	"strconv"
	"strings"
)

// TraceState holds what a trace needs of earlier calls, also of those in other processes. It is the
// zero value unless the runtime has a tracer.
type TraceState struct {
	Traced Traced `json:"traced,omitzero"`
}

// Traced counts the model calls of an agent.
type Traced struct {
	// Calls is the number of the last model call.
	Calls int
	// IsNext reports that Calls is already the number of the call that follows the beginning of the turn. It
	// is not stored.
	IsNext bool
	// IsSubagent reports that another agent of the session came first.
	IsSubagent bool
	// Loads has the texts in view, sorted by their loads.
	Loads []TracedLoad
}

// TracedLoad says which model call made a load. Load is the number of the load, 0 for preloads.
type TracedLoad struct{ Load, Call int }

const subagentMark = "s"

// MarshalText encodes t as one string: the number of calls, and each load with its call. An example is
// "12 3.2 7.5"; "12s" is that of another agent than the first.
func (t Traced) MarshalText() ([]byte, error) {
	var b strings.Builder
	b.WriteString(strconv.Itoa(t.Calls))
	if t.IsSubagent {
		b.WriteString(subagentMark)
	}
	for _, l := range t.Loads {
		b.WriteString(" " + strconv.Itoa(l.Load) + "." + strconv.Itoa(l.Call))
	}
	return []byte(b.String()), nil
}

// UnmarshalText reads the output of MarshalText. It skips what it cannot read: a record without it is
// still good.
func (t *Traced) UnmarshalText(text []byte) error {
	*t = Traced{}
	for i, word := range strings.Fields(string(text)) {
		if i == 0 {
			word, t.IsSubagent = strings.CutSuffix(word, subagentMark)
			t.Calls, _ = strconv.Atoi(word)
			continue
		}
		load, call, _ := strings.Cut(word, ".")
		l, errLoad := strconv.Atoi(load)
		c, errCall := strconv.Atoi(call)
		if errLoad == nil && errCall == nil {
			t.set(l, c)
		}
	}
	return nil
}

func (t *Traced) find(load int) (i int, ok bool) {
	return slices.BinarySearchFunc(t.Loads, load, func(l TracedLoad, load int) int { return l.Load - load })
}

// LoadedBy returns the model call that made a load, or 0 if it is not known.
func (t *Traced) LoadedBy(load int) int {
	if i, ok := t.find(load); ok {
		return t.Loads[i].Call
	}
	return 0
}

func (t *Traced) set(load, call int) {
	if i, ok := t.find(load); !ok {
		t.Loads = slices.Insert(t.Loads, i, TracedLoad{load, call})
	}
}

// traceLoads notes the model call that made the loads which r has and before does not have. A load at the
// beginning of a turn belongs to the next call. What a new record has rebuilt from messages has none.
func (r *Record) traceLoads(before *Record) {
	call, begins := r.Traced.Calls, r.Turn != before.Turn
	if begins && !r.Traced.IsNext {
		call++
	}
	r.Traced.Loads = slices.DeleteFunc(r.Traced.Loads, func(l TracedLoad) bool { return l.Load > 0 && !r.hasLoad(l.Load) })
	if before.Turn == 0 && len(r.Preloads) > 0 {
		r.Traced.set(0, call)
	}
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		if call > 0 && (!begins || d.Anchor != nil) && before.findDelivery(d.Key()) == nil {
			r.Traced.set(d.Call, call)
		}
	}
}

// hasLoad reports whether texts of a load are in view, or come back if the turn begins again.
func (r *Record) hasLoad(load int) bool {
	is := func(d Delivery) bool { return d.Call == load }
	return slices.ContainsFunc(r.Deliveries, is) || r.Before != nil && slices.ContainsFunc(r.Before.Deliveries, is)
}
