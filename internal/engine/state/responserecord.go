package state

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core"
)

// Found notes the record that this call is about to change, for earlier calls
// of the response that are executed after it.
func (p *Place) Found(rec *Record) {
	if p == nil {
		return
	}
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	p.found = rec
}

// Sees returns the record as this call must see it. A framework may execute
// later calls first; what they load, unload or evict has not happened yet at
// this place. After a restart it is no longer known what they took away.
func (p *Place) Sees(rec *Record) *Record {
	if p == nil {
		return rec
	}
	number, found := p.laterChange()
	if found != nil {
		if rec.Version == found.Version {
			return rec
		}
		rec = rec.Clone()
		rec.Active, rec.Lists = slices.Clone(found.Active), slices.Clone(found.Lists)
		return rec
	}
	loaded := func(a Active) bool { return a.Call >= number }
	held := func(h ToolList) bool { return h.Call >= number }
	if number == 0 || !slices.ContainsFunc(rec.Active, loaded) && !slices.ContainsFunc(rec.Lists, held) {
		return rec
	}
	rec = rec.Clone()
	rec.Active = slices.DeleteFunc(rec.Active, loaded)
	rec.Lists = slices.DeleteFunc(rec.Lists, held)
	return rec
}

// laterChange returns the number of the first later call that changes what is loaded, 0 if
// there is none. found is the oldest record that any such call has found, nil if none has been
// executed.
func (p *Place) laterChange() (number int, found *Record) {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	passed := false
	for _, other := range p.in.places {
		if passed && other.made.Changes {
			if number == 0 {
				number = other.made.Number
			}
			if other.found != nil && (found == nil || other.found.Version < found.Version) {
				found = other.found
			}
		}
		passed = passed || other == p
	}
	return number, found
}

// Enter writes the calls of a new response into a record: numbers for those
// that change what is loaded, and the places of the others between them. It
// fills the numbers into made and reports whether the record has changed. A
// response that is observed once more, because the process ended before the
// host had stored it, keeps the numbers that it has. If one of its calls has ended,
// it counts as another response, unless again says that it is the same one.
func Enter(rec *Record, made []Made, again bool) (changed bool) {
	if slices.ContainsFunc(made, Made.numbered) && !keepNumbers(rec.Pending, made, again) {
		rec.KeepRan()
		changed, rec.Pending = true, nil
		for i := range made {
			if made[i].numbered() {
				rec.Calls++
				made[i].Number = rec.Calls
				rec.Pending = append(rec.Pending, Pending{Call: rec.Calls, From: KeptCall(made[i].Call), Runs: !made[i].Changes})
			}
		}
	}
	if others := unnumbered(made); !slices.Equal(others, rec.Unnumbered) {
		changed, rec.Unnumbered = true, others
	}
	return changed
}

// CanWait reports whether a response need not be entered into the record before its call is
// executed. It must be a single call, so that no order has to outlive the process. The call
// must have an id, and the record must hold no call that it could be mistaken for. The
// answer is entered together with the change that the call makes.
func CanWait(rec *Record, made []Made) bool {
	return len(made) == 1 && made[0].numbered() && made[0].Call.ID != "" && len(rec.Unnumbered) == 0 && FindPending(rec.Pending, nil, made[0].Call) < 0
}

// keepNumbers fills in the numbers that a record holds for these very calls.
func keepNumbers(known []Pending, made []Made, again bool) bool {
	var numbered []*Made
	for i := range made {
		if made[i].numbered() {
			numbered = append(numbered, &made[i])
		}
	}
	if !slices.EqualFunc(known, numbered, func(k Pending, m *Made) bool { return (again || !k.Done) && KeptCall(k.From) == KeptCall(m.Call) }) {
		return false
	}
	for i := range numbered {
		numbered[i].Number = known[i].Call
	}
	return true
}

// unnumbered are the calls of a response that have no number, if any has one.
func unnumbered(made []Made) []Unnumbered {
	var all []Unnumbered
	after := 0
	for i := range made {
		if made[i].numbered() {
			after = made[i].Number
		} else {
			all = append(all, Unnumbered{ID: kept(made[i].Call.ID, maxWord), Name: kept(made[i].Call.Name, maxWord), After: after})
		}
	}
	if after == 0 {
		return nil
	}
	return all
}

// RecallResponse makes the last response again from a record, for a process that has
// not seen it: an agent may be resumed between a response and its calls. It
// returns nil where the record holds none.
func RecallResponse(rec *Record, after func(time.Duration) <-chan time.Time) *Response {
	if len(rec.Pending) == 0 {
		return nil
	}
	r := &Response{after: after, recalled: true}
	others := rec.Unnumbered
	take := func(number int) {
		for len(others) > 0 && others[0].After <= number {
			r.add(Made{Call: core.ToolCall{ID: others[0].ID, Name: others[0].Name}})
			others = others[1:]
		}
	}
	take(0)
	for _, was := range rec.Pending {
		p := r.add(Made{Call: was.From, Number: was.Call, Changes: !was.Runs, Once: was.Runs})
		if was.Done {
			p.opened, p.as = true, was.From
			p.end()
		}
		take(was.Call)
	}
	return r
}

// FindPending returns the index of a call among the numbered calls of the last
// response, or -1. Of a call that was answered already, only the very call as it
// was executed is found.
func FindPending(pending []Pending, place *Place, call core.ToolCall) int {
	if place != nil {
		number := place.Number()
		return slices.IndexFunc(pending, func(p Pending) bool {
			return p.Call == number && (!p.Done || exact(p.From, call))
		})
	}
	i := slices.IndexFunc(pending, func(p Pending) bool { return exact(p.From, call) })
	if i < 0 {
		i = slices.IndexFunc(pending, func(p Pending) bool { return !p.Done && changed(p.From, call) })
	}
	return i
}

// RanBefore returns what the record knows of a call whose command an earlier attempt of
// the turn has begun. Only an id tells it from a later call like it.
func RanBefore(rec *Record, call core.ToolCall) (Pending, bool) {
	i := slices.IndexFunc(rec.Ran, func(p Pending) bool { return p.Call == 0 && call.ID != "" && exact(p.From, call) })
	if i < 0 {
		return Pending{}, false
	}
	return rec.Ran[i], true
}

// Answered returns next with the answer of a call that the record has given a
// number, so that the call gives the same answer if it is executed again. next
// is nil, or rec, where the call changes nothing else.
func Answered(rec, next *Record, answer Pending) *Record {
	i := slices.IndexFunc(rec.Pending, func(p Pending) bool { return p.Call == answer.Call })
	if i < 0 {
		return next // another response was entered meanwhile
	}
	next = changeable(rec, next)
	next.Pending[i] = answer
	return next
}

// AnsweredFirst is Answered for a call that gets its number only now, the
// record's next one. entered says that it is the one call of a response that
// was not entered before, so the record keeps its answer too.
func AnsweredFirst(rec, next *Record, answer Pending, entered bool) *Record {
	next = changeable(rec, next)
	next.Calls = answer.Call
	if entered {
		next.KeepRan()
		next.Pending, next.Unnumbered = []Pending{answer}, nil
	}
	return next
}

func changeable(rec, next *Record) *Record {
	if next == nil || next == rec {
		return rec.Clone()
	}
	return next
}

// KeptCall returns a call as a record keeps it. A model may write megabytes into a call,
// and a record holds all calls of a response and is saved again with each change.
// Keeping a kept call changes nothing.
func KeptCall(call core.ToolCall) core.ToolCall {
	return core.ToolCall{ID: kept(call.ID, maxWord), Name: kept(call.Name, maxWord), Arguments: kept(call.Arguments, maxArguments)}
}

func kept(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return fmt.Sprintf("sha256:%x, %d bytes", sha256.Sum256([]byte(text)), len(text))
}

// same compares two texts, each of which may be in the form in which it is kept.
func same(a, b string, limit int) bool {
	return a == b || (len(a) > limit) != (len(b) > limit) && kept(a, limit) == kept(b, limit)
}
