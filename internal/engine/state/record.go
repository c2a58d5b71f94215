// Package state holds the [Record] of an agent in a session. It defines the record's fields, how
// they change, and how a store keeps them.
package state

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
)

// Record is the state of one agent in one session: which skills are loaded,
// which call delivered which text, and what the view must keep constant. A Record
// that [Records] returned is shared and must not be changed: Clone it first. A store
// keeps its JSON form.
type Record struct {
	// Version counts the saves of this record; it is 0 before the first.
	Version int64           `json:"-"`
	Key     core.SessionKey `json:"-"`

	// Each group has the fields of one concern, and is declared in the file that changes them.
	// In JSON all are fields of the record.
	TurnState
	LoadState
	PreloadState
	GateState
	PriceState
	NoteState
	TraceState
}

// TurnState is where the conversation is: the user turn and the calls of its responses.
type TurnState struct {
	// Turn numbers the user turns from 1; 0 before the first.
	Turn int `json:"turn"`
	// Token is the token by which the host names the turn. It is "" if the adapter found the
	// turn by the message User instead.
	Token string `json:"token,omitempty"`
	User  Mark   `json:"user"`
	// Tokens are the tokens of some earlier turns, the latest last. A request with one of
	// them begins no new turn.
	Tokens []string `json:"tokens,omitempty"`

	// Calls is the highest number given to a call. Numbers are never reused.
	Calls int `json:"calls"`
	// Pending are the numbered calls of the last response that had any. Unnumbered are the
	// other calls of that response, until the next one.
	Pending    []Pending    `json:"pending,omitempty"`
	Unnumbered []Unnumbered `json:"others,omitempty"`

	// Before is the state at the beginning of the turn, for [Record.BeginAgain]. It is nil if
	// the turn has changed none of it, or if it is the first turn and began with nothing.
	// Copies of a record share it.
	Before *Beginning `json:"before,omitempty"`
	// OnceCalls are calls of the turn, except those in Pending, whose commands may run only
	// once and have started. Those of an earlier attempt of the turn have no number.
	OnceCalls []Pending `json:"ran,omitempty"`

	// Unknown are the latest calls of tools that the agent does not have, in the order in
	// which they were answered.
	Unknown []UnknownCall `json:"unknown,omitempty"`

	// Forks counts the forks that the agent has begun. Forked are those that have not ended.
	Forks  int      `json:"forks,omitempty"`
	Forked []Forked `json:"forked,omitempty"`

	// Terminals is the highest number of an interactive command of the agent. Numbers are
	// never reused, not even on another machine.
	Terminals int `json:"terminals,omitempty"`
}

// Front fingerprints the messages of a request that come before the first skill text. If the
// host changes these messages, no prompt cache holds the skill texts any more.
type Front struct {
	Messages int    `json:"messages,omitempty"`
	Size     int    `json:"size,omitempty"` // in bytes
	Sum      uint32 `json:"sum,omitempty"`  // a checksum
	// Moved is how often the host has changed the messages in this turn.
	Moved int `json:"moved,omitempty"`
}

// Active is one loaded skill.
type Active struct {
	Skill string `json:"skill"`
	// Call is the number of the call that loaded it, or 0 for an imported skill.
	Call int `json:"call,omitempty"`
	// ID is the skill's canonical id when it was loaded, "" if it is not known.
	ID string `json:"id,omitempty"`
	// Revision is the loaded revision of the skill, "" if its source keeps no revisions. The
	// skill's files are read from this revision until the skill is loaded again.
	Revision string `json:"revision,omitempty"`
	// Digest is the hex SHA-256 of the body that was delivered.
	Digest string `json:"digest"`
	// Docs are the selected docs in the order of selection. All reports that the call
	// selected every doc.
	Docs []string `json:"docs,omitempty"`
	All  bool     `json:"all,omitempty"`
	// Used is the value of [LoadState].Uses at the last load or selection, and Loaded its
	// value at the last load. Both are 0 for an imported skill.
	Used   int `json:"used"`
	Loaded int `json:"loaded,omitempty"`
}

// Delivery is the text of one skill that one call added to the view, pinned by digest. The
// view shows the text at the result of that call while the record lists the delivery.
// In JSON it is a short string.
type Delivery struct {
	// Call is the number of the call; a call that names several skills makes
	// several deliveries.
	Call  int    `json:"call"`
	Turn  int    `json:"turn"`
	Skill string `json:"skill"`
	// Digest is the hex SHA-256 of the skill's body at the time of the delivery. It is "" if
	// only docs were delivered and the load has ended. Body reports that this call delivered
	// the body, perhaps with docs.
	Digest string `json:"digest"`
	Body   bool   `json:"body,omitempty"`
	Docs   []Doc  `json:"docs,omitempty"`
	// Rendered is the digest of the body with the arguments of its load, "" if the body is shown
	// as it is.
	Rendered string `json:"rendered,omitempty"`
	// Arguments are those of a load without a call, "" for any other.
	Arguments string `json:"arguments,omitempty"`
	// Listing is the digest of a text that follows the body, "" for none.
	Listing string `json:"listing,omitempty"`
	// Anchor is the user message that carries a delivery made without a call.
	Anchor *Mark `json:"anchor,omitempty"`
	// Supersedes reports that an older text of the skill was in view. Old reports
	// that this is such an older text; [Record.Break] removes it.
	Supersedes bool `json:"supersedes,omitempty"`
	Old        bool `json:"old,omitempty"`
	// Seen reports that a request contained the message of the delivery. Spent
	// reports that the model has answered since; it is only set in load mode Once.
	Seen  bool `json:"seen,omitempty"`
	Spent bool `json:"spent,omitempty"`
	// IsTask reports that the body is the task of a fork. It stays in view while the fork runs; see
	// [Record.SetTask].
	IsTask bool `json:"task,omitempty"`
	// Ended reports that the load is over. The text is still in view because clearing it
	// would cost more than it saves, but the skill does not count as loaded.
	Ended bool `json:"ended,omitempty"`
	// Of tells the skill of an ended load from others that have its name later. It is the
	// beginning of a hash of the skill's id; see [HashID].
	Of string `json:"of,omitempty"`
}

// DeliveryKey identifies a delivery within a record: a call delivers a skill once.
type DeliveryKey struct {
	Call  int
	Skill string
}

// EndDelivery notes that the load of a delivery is over. The skill of the delivery is loaded in r, or
// the load had ended before.
func (r *Record) EndDelivery(d *Delivery) {
	if a := r.Find(d.Skill); a != nil && !d.Ended {
		d.Of = HashID(a.ID)
	}
	if d.Ended = true; !d.Body {
		d.Digest = ""
	}
}

// HashID returns the beginning of a hash of a canonical id, "" for "". Records keep it in place of
// the id because it is short.
func HashID(id string) string {
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return base64.RawURLEncoding.EncodeToString(sum[:3])
}

// WasOther reports whether the newest text of an ended load under this name is of another skill than
// the one with that id. It returns false if that is not known.
func (r *Record) WasOther(name, id string) bool {
	for _, d := range slices.Backward(r.Deliveries) {
		if d.Skill == name && d.Body && !d.Old {
			return d.Ended && d.Of != "" && d.Of != HashID(id)
		}
	}
	return false
}

// Shown returns the digest of the text that is shown for the body.
func (d *Delivery) Shown() string { return cmp.Or(d.Rendered, d.Digest) }

// Key returns the key of the delivery.
func (d *Delivery) Key() DeliveryKey { return DeliveryKey{d.Call, d.Skill} }

// Doc is a delivered doc or section of a doc, pinned by the hex SHA-256 of its text. Old reports
// that a newer text of it was delivered later, or a text that contains the section. See [SectionDoc].
type Doc struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
	Old    bool   `json:"old,omitempty"`
	// Framed reports that the doc was delivered with a body that mentions it. It is then
	// shown between lines that name it, not in an element.
	Framed bool `json:"framed,omitempty"`
	// By is the larger section that has superseded this one, "" for none.
	By string `json:"by,omitempty"`
	// Place is where a call has cut the section out of its doc, nil for a doc. A record does not keep
	// it.
	Place *SectionPlace `json:"-"`
}

// Pending is a numbered call of the last response. Answer is set when the call has been
// answered. If the same call is executed again, after an interrupt or a restart, it returns
// this answer and changes nothing.
type Pending struct {
	Call int           `json:"call"`
	From core.ToolCall `json:"from"`
	// Done reports that the call has ended: it was answered, failed or was denied.
	Done   bool   `json:"done,omitempty"`
	Answer string `json:"answer,omitempty"`
	// Runs reports that the call only runs a command and loads or unloads nothing. Begun
	// reports that its command was about to start.
	Runs  bool `json:"runs,omitempty"`
	Begun bool `json:"begun,omitempty"`
	// Text is the digest of the pinned answer if it is too long for the record.
	Text string `json:"text,omitempty"`
	// Fork is the number of the first fork of the call, 0 for none. Begun then reports that the
	// forks are running or have ended.
	Fork int `json:"fork,omitempty"`
}

// Unnumbered is a call of the last response that has no number. After is the number of the
// nearest numbered call before it, or 0.
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
	// Files are the host's files that the note announces. They also include files that were
	// attached to a message or announced in an answer.
	Files []NotedFile `json:"files,omitempty"`
}

// NotedFile is a file of the host. As is its name in work/inputs.
type NotedFile struct {
	Identity string `json:"id"`
	As       string `json:"as"`
}

// FileOfHost returns the name under which a file of the host was announced, "" if it was not.
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
	c.Preloads = slices.Clone(r.Preloads)
	c.Denials = cloneDenials(r.Denials)
	c.Pending, c.OnceCalls = slices.Clone(r.Pending), slices.Clone(r.OnceCalls)
	c.Returns.Skills = slices.Clone(r.Returns.Skills)
	c.Notes = slices.Clone(r.Notes)
	for i := range c.Notes {
		c.Notes[i].Files = slices.Clone(c.Notes[i].Files)
	}
	c.Forked = slices.Clone(r.Forked)
	c.Tokens = slices.Clone(r.Tokens)
	c.Compact, c.ShortTexts = slices.Clone(r.Compact), slices.Clone(r.ShortTexts)
	c.Recent = slices.Clone(r.Recent)
	c.Unnumbered = slices.Clone(r.Unnumbered)
	c.Unknown = slices.Clone(r.Unknown)
	c.Traced.Loads = slices.Clone(r.Traced.Loads)
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

func cloneDenials(all []Denial) []Denial {
	all = slices.Clone(all)
	for i := range all {
		all[i].Tools = slices.Clone(all[i].Tools)
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

// BaseName returns a skill's name without the qualifier before its last colon.
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

// Pins returns the sorted digests of the texts that a record needs pinned in its session. Its
// listing is not among them, because [Records.PinListing] pins it for all sessions.
func (r *Record) Pins() []string {
	pins := []string{r.Overview, r.Prefix, r.Archive.List}
	for _, p := range r.Preloads {
		pins = append(pins, p.Digest, p.Rendered)
	}
	var was Beginning
	if r.Before != nil {
		was = *r.Before
	}
	for _, a := range slices.Concat(r.Active, was.Active) {
		pins = append(pins, a.Digest)
	}
	for _, d := range slices.Concat(r.Deliveries, r.archived, was.Deliveries) {
		pins = append(pins, d.Digest, d.Rendered, d.Listing)
		for _, doc := range d.Docs {
			pins = append(pins, doc.Digest)
		}
	}
	for _, c := range r.Compact {
		pins = append(pins, c.Digest)
	}
	for _, p := range slices.Concat(r.Pending, r.OnceCalls) {
		pins = append(pins, p.Text)
	}
	for _, c := range r.Unknown {
		pins = append(pins, c.Text)
	}
	slices.Sort(pins)
	return slices.DeleteFunc(slices.Compact(pins), func(digest string) bool { return digest == "" })
}
