package state

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Beginning is what a record was when its turn began, as far as it has changed since;
// see [Record.BeginAgain]. It is small: what has not changed is not there twice.
type Beginning struct {
	Calls      int             `json:"calls,omitempty"`
	Uses       int             `json:"uses,omitempty"`
	Active     Was[Active]     `json:"active,omitzero"`
	Deliveries Was[Delivery]   `json:"deliveries,omitzero"`
	Lists      Was[ToolList]   `json:"held,omitzero"`
	Recent     Was[RecentLoad] `json:"recent,omitzero"`
}

// Was is a list as it was before it became another one: its elements in order, as far as
// the other has them by their indices there. In JSON it is an array of a short string and
// of what is Gone.
type Was[T any] struct {
	Kept []Kept
	Gone []T
}

// Kept says where an element is: at an index of the other list, or next among what is
// gone.
type Kept struct {
	At int
	// Gone: the other list lacks the element. Ended: it is a delivery that is the same but
	// for Ended.
	Gone, Ended bool
}

func since[T any](was, now []T) (w Was[T]) {
	find := func(v any) int {
		return slices.IndexFunc(now, func(n T) bool { return reflect.DeepEqual(v, any(n)) })
	}
	for _, v := range was {
		k := Kept{At: find(v)}
		if d, ok := any(v).(Delivery); ok && k.At < 0 {
			d.Ended = !d.Ended
			k = Kept{At: find(d), Ended: true}
		}
		if k.At < 0 {
			k = Kept{Gone: true}
			w.Gone = append(w.Gone, v)
		}
		w.Kept = append(w.Kept, k)
	}
	return w
}

// in returns the list as it was before it became now.
func (w Was[T]) in(now []T) (was []T) {
	gone := w.Gone
	for _, k := range w.Kept {
		switch {
		case k.Gone && len(gone) > 0:
			was, gone = append(was, gone[0]), gone[1:]
		case !k.Gone && k.At < len(now):
			was = append(was, now[k.At])
			if d, ok := any(&was[len(was)-1]).(*Delivery); ok && k.Ended {
				d.Ended = !d.Ended
			}
		}
	}
	return was
}

func (w Was[T]) clone() Was[T] { return Was[T]{slices.Clone(w.Kept), slices.Clone(w.Gone)} }

// MarshalJSON writes the indices as "0-3 5 ~6 x": a range, one, one whose end differs, and
// one that is gone.
func (w Was[T]) MarshalJSON() ([]byte, error) {
	var words []string
	for i := 0; i < len(w.Kept); i++ {
		k, last := w.Kept[i], i
		for !k.Gone && !k.Ended && last+1 < len(w.Kept) && w.Kept[last+1] == (Kept{At: k.At + last + 1 - i}) {
			last++
		}
		switch word := strconv.Itoa(k.At); {
		case k.Gone:
			words = append(words, "x")
		case k.Ended:
			words = append(words, "~"+word)
		case last > i:
			words, i = append(words, word+"-"+strconv.Itoa(k.At+last-i)), last
		default:
			words = append(words, word)
		}
	}
	all := []any{strings.Join(words, " ")}
	for i := range w.Gone {
		all = append(all, w.Gone[i])
	}
	return json.Marshal(all)
}

// maxKept bounds a list that is read.
const maxKept = 1 << 16

var errWas = errors.New("the beginning of a turn is not readable")

// UnmarshalJSON reads what MarshalJSON writes.
func (w *Was[T]) UnmarshalJSON(data []byte) error {
	var all []json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	*w = Was[T]{}
	if len(all) == 0 {
		return errWas
	}
	var text string
	if err := json.Unmarshal(all[0], &text); err != nil {
		return err
	}
	for word := range strings.FieldsSeq(text) {
		if word == "x" {
			w.Kept = append(w.Kept, Kept{Gone: true})
			continue
		}
		word, ended := strings.CutPrefix(word, "~")
		from, to, ranges := strings.Cut(word, "-")
		if !ranges {
			to = from
		}
		first, err := strconv.Atoi(from)
		last, other := strconv.Atoi(to)
		if err != nil || other != nil || first < 0 || last < first || last-first+len(w.Kept) >= maxKept {
			return errWas
		}
		for ; first <= last; first++ {
			w.Kept = append(w.Kept, Kept{At: first, Ended: ended})
		}
	}
	for _, raw := range all[1:] {
		var v T
		if err := json.Unmarshal(raw, &v); err != nil {
			return err
		}
		w.Gone = append(w.Gone, v)
	}
	return nil
}

// maxRan is how many commands of a turn a record remembers beside those of the last
// response.
const maxRan = 64

// atBeginning returns the record with which the turn of r began, r itself where nothing has
// changed. What it holds is that of r, and must not be changed.
func (r *Record) atBeginning() *Record {
	var b Beginning
	if r.Before != nil {
		b = *r.Before
	} else if r.Turn != 1 || r.Calls == 0 {
		return r
	}
	was := *r
	was.Calls, was.Uses = b.Calls, b.Uses
	was.Active, was.Deliveries = b.Active.in(r.Active), b.Deliveries.in(r.Deliveries)
	was.Lists, was.Recent = b.Lists.in(r.Lists), b.Recent.in(r.Recent)
	return &was
}

// KeepBeginning notes in r how the turn began. before is the record of which a change
// within the turn has made r.
func (r *Record) KeepBeginning(before *Record) { r.beganAs(before.atBeginning()) }

// Began notes that the first turn begins with what r holds. Later turns need no note.
func (r *Record) Began() { r.beganAs(r) }

func (r *Record) beganAs(was *Record) {
	b := Beginning{
		Calls: was.Calls, Uses: was.Uses, Active: since(was.Active, r.Active), Deliveries: since(was.Deliveries, r.Deliveries),
		Lists: since(was.Lists, r.Lists), Recent: since(was.Recent, r.Recent),
	}
	if r.Before = &b; r.Turn == 1 && reflect.DeepEqual(b, Beginning{}) {
		r.Before = nil // it is known without a note, and records of one turn stay as short
	}
}

// HasChanged reports whether the turn has changed what [Record.BeginAgain] takes back.
func (r *Record) HasChanged() bool { return r.atBeginning() != r }

// BeginAgain takes r back to the beginning of its turn: what the turn has loaded,
// selected, unloaded and used, and the numbers of its calls. What a command has done, the
// user has granted and the policy knows of a cache stays, and so do notes of commands that
// may start only once. It reports whether r has changed.
func (r *Record) BeginAgain() bool {
	if !r.HasChanged() {
		return false
	}
	r.KeepRan()
	for i := range r.Ran {
		r.Ran[i].Call = 0
	}
	ran := r.Ran
	*r = *r.atBeginning()
	r.Ran, r.Before, r.Pending, r.Unnumbered = ran, nil, nil, nil
	r.Unknown = slices.DeleteFunc(r.Unknown, func(c UnknownCall) bool { return c.Turn == r.Turn })
	if r.Turn == 1 && r.Calls > 0 {
		r.Began()
	}
	return true
}

// KeepRan notes the commands of the last response that may start only once and were
// begun, before other calls take their place.
func (r *Record) KeepRan() {
	for _, p := range r.Pending {
		if p.Begun {
			r.Ran = append(r.Ran, p)
		}
	}
	r.Ran = r.Ran[max(0, len(r.Ran)-maxRan):]
}
