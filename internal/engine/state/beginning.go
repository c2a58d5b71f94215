package state

import (
	"reflect"
	"slices"
)

// Beginning is what a record was when its turn began; see [Record.BeginAgain]. It is never
// changed in place.
type Beginning struct {
	Calls      int        `json:"calls,omitempty"`
	Uses       int        `json:"uses,omitempty"`
	Active     []Active   `json:"active,omitempty"`
	Deliveries []Delivery `json:"deliveries,omitempty"`
	// Shelved are more of them in a stored record, at places of its shelf.
	Shelved Places       `json:"shelf,omitzero"`
	Lists   []ToolList   `json:"held,omitempty"`
	Recent  []RecentLoad `json:"recent,omitempty"`
}

// atBeginning returns the record with which the turn of r began, r itself if nothing has
// changed. The result shares memory with r and must not be changed.
func (r *Record) atBeginning() *Record {
	var b Beginning
	if r.Before != nil {
		b = *r.Before
	} else if r.Turn != 1 || r.Calls == 0 {
		return r
	}
	was := *r
	was.Calls, was.Uses, was.Active, was.Deliveries, was.Lists, was.Recent = b.Calls, b.Uses, b.Active, b.Deliveries, b.Lists, b.Recent
	return &was
}

// KeepBeginning notes in r how the turn began. before is the record that a change within
// the turn has made r from.
func (r *Record) KeepBeginning(before *Record) { r.beganAs(before.atBeginning()) }

// Began notes that the first turn begins with what r holds. Later turns need no note.
func (r *Record) Began() { r.beganAs(r) }

func (r *Record) beganAs(was *Record) {
	b := Beginning{
		Calls: was.Calls, Uses: was.Uses, Active: cloneActive(was.Active), Deliveries: cloneDeliveries(was.Deliveries),
		Lists: cloneLists(was.Lists), Recent: slices.Clone(was.Recent),
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
	*r = *r.atBeginning().Clone()
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
