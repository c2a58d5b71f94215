package state

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core"
)

// SetBase notes the record that this call is about to change. [Place.RecordFor] needs it for
// earlier calls of the response that are executed later.
func (p *Place) SetBase(rec *Record) {
	if p == nil {
		return
	}
	p.response.mu.Lock()
	defer p.response.mu.Unlock()
	p.base = rec
}

// RecordFor returns rec without the changes of later calls of the response. A framework may
// execute later calls first, but the model made this call before them. After a restart the
// skills that those calls unloaded or evicted are not known any more, and stay unloaded.
func (p *Place) RecordFor(rec *Record) *Record {
	if p == nil {
		return rec
	}
	number, base := p.laterChange()
	if base != nil {
		if rec.Version == base.Version {
			return rec
		}
		rec = rec.Clone()
		rec.Active, rec.Lists, rec.Denials = slices.Clone(base.Active), slices.Clone(base.Lists), slices.Clone(base.Denials)
		return rec
	}
	isLaterLoad := func(a Active) bool { return a.Call >= number }
	isLaterList := func(l ToolList) bool { return l.Call >= number }
	isLaterDenial := func(d Denial) bool { return d.Call >= number }
	if number == 0 || !slices.ContainsFunc(rec.Active, isLaterLoad) && !slices.ContainsFunc(rec.Lists, isLaterList) && !slices.ContainsFunc(rec.Denials, isLaterDenial) {
		return rec
	}
	rec = rec.Clone()
	rec.Active = slices.DeleteFunc(rec.Active, isLaterLoad)
	rec.Lists = slices.DeleteFunc(rec.Lists, isLaterList)
	rec.Denials = slices.DeleteFunc(rec.Denials, isLaterDenial)
	return rec
}

// laterChange returns the number of the first later call that changes what is loaded, 0 if
// there is none. base is the oldest record that such a call was about to change, nil if none
// has been executed.
func (p *Place) laterChange() (number int, base *Record) {
	p.response.mu.Lock()
	defer p.response.mu.Unlock()
	passed := false
	for _, other := range p.response.places {
		if passed && other.call.Changes {
			if number == 0 {
				number = other.call.Number
			}
			if other.base != nil && (base == nil || other.base.Version < base.Version) {
				base = other.base
			}
		}
		passed = passed || other == p
	}
	return number, base
}

// RecordCalls writes the calls of a new response into rec. It numbers those that change what is
// loaded or run a command once, sets their numbers in made, and notes the order of the others.
// It reports whether rec has changed.
//
// If rec already holds the same calls, and none has ended, they keep their numbers: the host
// has lost the response and the model has made it again. isRepeat says that this is so even if
// some have ended.
func RecordCalls(rec *Record, made []ModelCall, isRepeat bool) (changed bool) {
	if slices.ContainsFunc(made, ModelCall.hasNumber) && !keepNumbers(rec.Pending, made, isRepeat) {
		rec.KeepOnceCalls()
		changed, rec.Pending = true, nil
		for i := range made {
			if made[i].hasNumber() {
				rec.Calls++
				made[i].Number = rec.Calls
				rec.Pending = append(rec.Pending, Pending{Call: rec.Calls, From: ShortenCall(made[i].Call), Runs: !made[i].Changes})
			}
		}
	}
	if others := unnumbered(made); !slices.Equal(others, rec.Unnumbered) {
		changed, rec.Unnumbered = true, others
	}
	return changed
}

// CanRecordLater reports whether a response can be recorded together with the answer of its
// call, which saves one write. It must have a single call, because the order of several must
// outlive the process. The call must have an id, and rec must hold no call with which it
// could be confused.
func CanRecordLater(rec *Record, made []ModelCall) bool {
	return len(made) == 1 && made[0].hasNumber() && made[0].Call.ID != "" && len(rec.Unnumbered) == 0 && FindPending(rec.Pending, nil, made[0].Call) < 0
}

// keepNumbers sets the numbers of made from known, and reports whether known has the same calls.
func keepNumbers(known []Pending, made []ModelCall, isRepeat bool) bool {
	var numbered []*ModelCall
	for i := range made {
		if made[i].hasNumber() {
			numbered = append(numbered, &made[i])
		}
	}
	if !slices.EqualFunc(known, numbered, func(k Pending, m *ModelCall) bool {
		return (isRepeat || !k.Done) && ShortenCall(k.From) == ShortenCall(m.Call)
	}) {
		return false
	}
	for i := range numbered {
		numbered[i].Number = known[i].Call
	}
	return true
}

// unnumbered returns the calls of a response that have no number. It returns nil if no call
// has one.
func unnumbered(made []ModelCall) []Unnumbered {
	var all []Unnumbered
	after := 0
	for i := range made {
		if made[i].hasNumber() {
			after = made[i].Number
		} else {
			all = append(all, Unnumbered{ID: digestIfLong(made[i].Call.ID, maxWord), Name: digestIfLong(made[i].Call.Name, maxWord), After: after})
		}
	}
	if after == 0 {
		return nil
	}
	return all
}

// RecallResponse restores the last response from a record. A process needs this if it resumes
// an agent between a response and its calls. It returns nil if the record holds no response.
func RecallResponse(rec *Record, after func(time.Duration) <-chan time.Time) *Response {
	if len(rec.Pending) == 0 {
		return nil
	}
	r := &Response{after: after, isRecalled: true}
	others := rec.Unnumbered
	addOthers := func(number int) {
		for len(others) > 0 && others[0].After <= number {
			r.add(ModelCall{Call: core.ToolCall{ID: others[0].ID, Name: others[0].Name}})
			others = others[1:]
		}
	}
	addOthers(0)
	for _, pending := range rec.Pending {
		p := r.add(ModelCall{Call: pending.From, Number: pending.Call, Changes: !pending.Runs, Once: pending.Runs})
		if pending.Done {
			p.isOpened, p.openedAs = true, pending.From
			p.end()
		}
		addOthers(pending.Call)
	}
	return r
}

// FindPending returns the index of a call in the numbered calls of the last response, or -1. If
// the pending call is done, its arguments must be the same too.
func FindPending(pending []Pending, place *Place, call core.ToolCall) int {
	if place != nil {
		number := place.Number()
		return slices.IndexFunc(pending, func(p Pending) bool {
			return p.Call == number && (!p.Done || isSameCall(p.From, call))
		})
	}
	i := slices.IndexFunc(pending, func(p Pending) bool { return isSameCall(p.From, call) })
	if i < 0 {
		i = slices.IndexFunc(pending, func(p Pending) bool { return !p.Done && isSameNameAndID(p.From, call) })
	}
	return i
}

// FindOnceCall returns the entry of a call whose command an earlier attempt of the turn has
// started. It compares ids too, because a later call may have the same arguments.
func FindOnceCall(rec *Record, call core.ToolCall) (Pending, bool) {
	i := slices.IndexFunc(rec.OnceCalls, func(p Pending) bool { return p.Call == 0 && call.ID != "" && isSameCall(p.From, call) })
	if i < 0 {
		return Pending{}, false
	}
	return rec.OnceCalls[i], true
}

// WithAnswer adds the answer of a numbered call to next and returns it, so that the call returns
// the same answer if it is executed again. If next is nil or rec, it changes a copy of rec.
func WithAnswer(rec, next *Record, answer Pending) *Record {
	i := slices.IndexFunc(rec.Pending, func(p Pending) bool { return p.Call == answer.Call })
	if i < 0 {
		return next // another response has replaced this one meanwhile
	}
	next = cloneOnce(rec, next)
	next.Pending[i] = answer
	return next
}

// WithFirstAnswer is WithAnswer for a call that gets its number only now. recordsResponse
// says that the call is also the only one of a response that rec does not hold yet; see
// [CanRecordLater].
func WithFirstAnswer(rec, next *Record, answer Pending, recordsResponse bool) *Record {
	next = cloneOnce(rec, next)
	next.Calls = answer.Call
	if recordsResponse {
		next.KeepOnceCalls()
		next.Pending, next.Unnumbered = []Pending{answer}, nil
	}
	return next
}

// cloneOnce returns next, or a copy of rec if next is not a copy already.
func cloneOnce(rec, next *Record) *Record {
	if next == nil || next == rec {
		return rec.Clone()
	}
	return next
}

// ShortenCall replaces long texts of a call by digests, for a record. A model may write
// megabytes into a call, and each save writes all calls of the response again. Shortening a
// call twice changes nothing.
func ShortenCall(call core.ToolCall) core.ToolCall {
	return core.ToolCall{ID: digestIfLong(call.ID, maxWord), Name: digestIfLong(call.Name, maxWord), Arguments: digestIfLong(call.Arguments, maxArguments)}
}

func digestIfLong(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return fmt.Sprintf("sha256:%x, %d bytes", sha256.Sum256([]byte(text)), len(text))
}

// isSameText compares two texts. Either may be the result of digestIfLong.
func isSameText(a, b string, limit int) bool {
	return a == b || (len(a) > limit) != (len(b) > limit) && digestIfLong(a, limit) == digestIfLong(b, limit)
}
