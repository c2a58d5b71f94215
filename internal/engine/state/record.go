// Package state holds the record of an agent in a session: its fields, how they change and
// how they are encoded.
package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// Record is the state of one agent in one session: which skills are loaded,
// which call delivered what, and what the view must keep constant. A Record
// that [Records] returned is shared and must not be changed: Clone it first. Its JSON form
// is what a store keeps.
type Record struct {
	// Version counts the saves of this record; 0 has never been saved.
	Version int64           `json:"-"`
	Key     core.SessionKey `json:"-"`

	// Each group has the fields of one concern, in the file that changes them. In JSON all
	// are fields of the record.
	TurnState
	LoadState
	GateState
	PriceState
	NoteState
}

// TurnState is where the conversation is: the user turn and the calls of its responses.
type TurnState struct {
	// Turn numbers the user turns from 1; 0 before the first.
	Turn int `json:"turn"`
	// Token is the host's token of the turn, "" if the adapter itself found the
	// turn; User is the message by which it did.
	Token string `json:"token,omitempty"`
	// Tokens are those of earlier turns that the record still holds, the latest last. None of
	// them begins a turn again.
	Tokens []string `json:"tokens,omitempty"`
	User   Mark     `json:"user"`

	// Calls is the highest number given to a call. Numbers are never reused.
	Calls int `json:"calls"`
	// Pending are the numbered calls of the last response that had any. Unnumbered are the
	// other calls of that response, until the next one.
	Pending    []Pending    `json:"pending,omitempty"`
	Unnumbered []Unnumbered `json:"others,omitempty"`

	// Before is how the turn began, nil if nothing of that has changed or the first turn
	// began with nothing; see [Record.BeginAgain]. It is shared by the copies of a record.
	Before *Beginning `json:"before,omitempty"`
	// Ran are the calls of the turn whose commands may start only once and were begun, but
	// for those in Pending. Without a number a call is of an earlier attempt of the turn.
	Ran []Pending `json:"ran,omitempty"`

	// Unknown are the last calls of tools that the agent does not have, in the order of
	// their answers.
	Unknown []UnknownCall `json:"unknown,omitempty"`

	// Terminals is the highest number that a session command of the agent was
	// given. Numbers are never reused, not even on another machine.
	Terminals int `json:"terminals,omitempty"`
}

// Front are the first messages of a request, by their number and a checksum. It tells
// whether a host has changed what stands before the content, so that no cache holds
// that any more. Size are their bytes, and Moved is how often the host has changed them
// in the turn.
type Front struct {
	Messages int    `json:"messages,omitempty"`
	Size     int    `json:"size,omitempty"`
	Sum      uint32 `json:"sum,omitempty"`
	Moved    int    `json:"moved,omitempty"`
}

// Active is one loaded skill.
type Active struct {
	Skill string `json:"skill"`
	// Call is the number of the call that loaded it, or 0 for an imported skill.
	Call int `json:"call,omitempty"`
	// ID is the canonical id of the skill that the name meant, "" where it is not
	// known.
	ID string `json:"id,omitempty"`
	// Revision is that of the skill whose text was loaded, "" if its source keeps none. Its
	// files are read and staged until the skill is loaded again.
	Revision string `json:"revision,omitempty"`
	// Digest is the hex SHA-256 of the body that was delivered.
	Digest string `json:"digest"`
	// Docs are the selected docs in the order of selection. All reports that every
	// doc was asked for.
	Docs []string `json:"docs,omitempty"`
	All  bool     `json:"all,omitempty"`
	// Used is the value of the use clock at the last load or selection, and Loaded
	// the value at the last load; both are 0 for an imported skill.
	Used   int `json:"used"`
	Loaded int `json:"loaded,omitempty"`
}

// Delivery is the content of one skill that one call brought into view, pinned by digest.
// The content is shown at the result of that call while the record lists the delivery. In
// JSON it is a short string.
type Delivery struct {
	// Call is the number of the call; a call that names several skills makes
	// several deliveries.
	Call  int    `json:"call"`
	Turn  int    `json:"turn"`
	Skill string `json:"skill"`
	// Digest is the hex SHA-256 of the skill's body at the delivery, "" for docs alone
	// whose load has ended. Body reports that this call delivered the body and not only
	// docs.
	Digest string `json:"digest"`
	Body   bool   `json:"body,omitempty"`
	Docs   []Doc  `json:"docs,omitempty"`
	// Listing is the digest of a text that follows the body, "" for none.
	Listing string `json:"listing,omitempty"`
	// Anchor is the user message that carries a delivery made without a call.
	Anchor *Mark `json:"anchor,omitempty"`
	// Supersedes reports that an older text of the skill was in view. Old reports
	// that this is such an older text, which goes at the next break.
	Supersedes bool `json:"supersedes,omitempty"`
	Old        bool `json:"old,omitempty"`
	// Seen reports that a request contained the message of the delivery. Spent
	// reports that the model has answered since; it is kept in load mode once only.
	Seen  bool `json:"seen,omitempty"`
	Spent bool `json:"spent,omitempty"`
	// Ended reports that the load is over. Its content is in view only because
	// clearing it would cost more than it saves; nothing counts it as loaded.
	Ended bool `json:"ended,omitempty"`
}

// DeliveryKey names a delivery within a record: a call delivers a skill once.
type DeliveryKey struct {
	Call  int
	Skill string
}

// Key returns the name of the delivery.
func (d *Delivery) Key() DeliveryKey { return DeliveryKey{d.Call, d.Skill} }

// Doc is a delivered doc, pinned by the hex SHA-256 of its text. Old reports that a
// newer text of it was delivered since.
type Doc struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
	Old    bool   `json:"old,omitempty"`
	// Framed: the doc came with a body that names it.
	Framed bool `json:"framed,omitempty"`
}

// Pending is a call of the last response that has a number. Answer is set once the
// call was answered: executing the same call again, after an interrupt or a
// restart, then gives the same answer and changes nothing.
type Pending struct {
	Call int           `json:"call"`
	From core.ToolCall `json:"from"`
	// Done reports that the call has ended: it was answered, failed or was denied.
	Done   bool   `json:"done,omitempty"`
	Answer string `json:"answer,omitempty"`
	// Runs reports that the call only runs a command: it has a number, but changes
	// nothing of what is loaded. Begun reports that its command was about to start.
	Runs  bool `json:"runs,omitempty"`
	Begun bool `json:"begun,omitempty"`
	// Text is the digest of a pinned answer, which is too long for the record.
	Text string `json:"text,omitempty"`
}

// Unnumbered is a call of the last response that has no number of its own. After is
// the number of the last call before it that has one, or 0.
type Unnumbered struct {
	ID    string `json:"id,omitempty"`
	Name  string `json:"name"`
	After int    `json:"after,omitempty"`
}

// Note is an announced change of the catalog. It is shown at the user message that
// began the turn of the announcement.
type Note struct {
	Anchor Mark   `json:"anchor"`
	Text   string `json:"text"`
	// Files are those of the host that the note tells of, or that a message has brought
	// too or an answer tells of, with their names.
	Files []NotedFile `json:"files,omitempty"`
}

// NotedFile is a file of the host, by its identity, and its name in work/inputs.
type NotedFile struct {
	Identity string `json:"id"`
	As       string `json:"as"`
}

// FileOfHost returns the name that a file of the host was told to have, "" if it was
// not told.
func (r *Record) FileOfHost(identity string) string {
	for i := range r.Notes {
		for _, f := range r.Notes[i].Files {
			if f.Identity == identity {
				return f.As
			}
		}
	}
	return ""
}

// Clone returns a deep copy, which may be changed.
func (r *Record) Clone() *Record {
	c := *r
	c.Active, c.Deliveries, c.Lists = cloneActive(r.Active), cloneDeliveries(r.Deliveries), cloneLists(r.Lists)
	c.Pending, c.Ran = slices.Clone(r.Pending), slices.Clone(r.Ran)
	c.Returns.Skills = slices.Clone(r.Returns.Skills)
	c.Notes = slices.Clone(r.Notes)
	for i := range c.Notes {
		c.Notes[i].Files = slices.Clone(c.Notes[i].Files)
	}
	c.Tokens = slices.Clone(r.Tokens)
	c.Compact, c.Shortened = slices.Clone(r.Compact), slices.Clone(r.Shortened)
	c.Recent = slices.Clone(r.Recent)
	c.Unnumbered = slices.Clone(r.Unnumbered)
	c.Unknown = slices.Clone(r.Unknown)
	c.Grants = slices.Clone(r.Grants)
	for i := range c.Grants {
		c.Grants[i].Skills = maps.Clone(c.Grants[i].Skills)
	}
	return &c
}

func cloneActive(all []Active) []Active {
	all = slices.Clone(all)
	for i := range all {
		all[i].Docs = slices.Clone(all[i].Docs)
	}
	return all
}

func cloneDeliveries(all []Delivery) []Delivery {
	all = slices.Clone(all)
	for i := range all {
		all[i].Docs = slices.Clone(all[i].Docs)
		if a := all[i].Anchor; a != nil {
			all[i].Anchor = new(*a)
		}
	}
	return all
}

func cloneLists(all []ToolList) []ToolList {
	all = slices.Clone(all)
	for i := range all {
		all[i].Tools = slices.Clone(all[i].Tools)
	}
	return all
}

// BaseName returns the name behind the qualifier of a qualified one.
func BaseName(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

// FindID returns the loaded skill with that canonical id, or nil. It points into the
// record.
func (r *Record) FindID(id string) *Active {
	for i := range r.Active {
		if id != "" && r.Active[i].ID == id {
			return &r.Active[i]
		}
	}
	return nil
}

// Find returns the loaded skill of that name, or nil. It points into the record.
func (r *Record) Find(skill string) *Active {
	for i := range r.Active {
		if r.Active[i].Skill == skill {
			return &r.Active[i]
		}
	}
	return nil
}

// recordFormat is the number of the form in which records are stored. A stored record
// begins with it, so that the value of a host is not taken for a record.
const recordFormat = 2

// storedRecord is a record as a store keeps it. Its key and version are those of the value.
type storedRecord struct {
	Format int `json:"record"`
	*Record
}

// encode returns the stored form of a record.
func encode(rec *Record) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(2 << 10) // most records are shorter
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(storedRecord{recordFormat, rec}); err != nil {
		return nil, fmt.Errorf("encode record of agent %q: %w", rec.Key.Agent, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// decode reads what encode wrote. Everything else is an error that wraps
// [session.ErrDamaged].
func decode(key core.SessionKey, v session.Value) (*Record, error) {
	stored := storedRecord{Record: &Record{}}
	if err := json.Unmarshal(v.Data, &stored); err != nil {
		return nil, fmt.Errorf("%w: %w", session.ErrDamaged, err)
	}
	if stored.Format != recordFormat {
		return nil, fmt.Errorf("%w: it is no record of format %d", session.ErrDamaged, recordFormat)
	}
	rec := stored.Record
	rec.Key, rec.Version = key, v.Version
	return rec, nil
}

// Pins returns the digests of what a record needs pinned in its session, sorted. Its
// listing is pinned for all sessions, see [Records.PinListing].
func (r *Record) Pins() []string {
	pins := []string{r.Overview, r.Shelf.List}
	var was Beginning
	if r.Before != nil {
		was = *r.Before
	}
	for _, a := range slices.Concat(r.Active, was.Active) {
		pins = append(pins, a.Digest)
	}
	for _, d := range slices.Concat(r.Deliveries, r.shelved, was.Deliveries) {
		pins = append(pins, d.Digest, d.Listing)
		for _, doc := range d.Docs {
			pins = append(pins, doc.Digest)
		}
	}
	for _, c := range r.Compact {
		pins = append(pins, c.Digest)
	}
	for _, p := range slices.Concat(r.Pending, r.Ran) {
		pins = append(pins, p.Text)
	}
	for _, c := range r.Unknown {
		pins = append(pins, c.Text)
	}
	slices.Sort(pins)
	return slices.DeleteFunc(slices.Compact(pins), func(digest string) bool { return digest == "" })
}
