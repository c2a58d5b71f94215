package session

import (
	"maps"
	"slices"

	"github.com/satchel-go/satchel/core"
)

// Record is the state of one agent in one session: which skills are loaded,
// which call delivered what, and what the view must keep constant. A Record
// that came from a [Store] is shared and must not be changed: Clone it first.
// Its JSON form is what the directory store writes.
type Record struct {
	// Version counts the saves of this record; 0 has never been saved.
	Version int64           `json:"version"`
	Key     core.SessionKey `json:"key"`

	// Turn numbers the user turns from 1; 0 before the first.
	Turn int `json:"turn"`
	// Token is the host's token of the turn, "" where the adapter found the
	// turn itself; User is the message that it found it by.
	Token string `json:"token,omitempty"`
	// Tokens are those of the turns before, the latest last, as far as they
	// are remembered: none of them begins a turn again.
	Tokens []string `json:"tokens,omitempty"`
	User   Mark     `json:"user"`

	// Calls is the highest number given to a call. Numbers are never reused.
	Calls int `json:"calls"`
	// Uses is the clock of last use; it counts touches, not time.
	Uses int `json:"uses"`

	// Active are the loaded skills in load order.
	Active []Active `json:"active,omitempty"`
	// Deliveries are the contents that the view shows, by call number.
	Deliveries []Delivery `json:"deliveries,omitempty"`
	// Pending are the numbered calls of the last response that had any. Others
	// are the rest of the calls of that response, until the next one.
	Pending []Pending `json:"pending,omitempty"`
	Others  []Other   `json:"others,omitempty"`

	// Held are the lists of allowed tools that hold, in load order. Grants are
	// the approvals that were given for the session.
	Held   []Held  `json:"held,omitempty"`
	Grants []Grant `json:"grants,omitempty"`

	// Overview is the digest of the pinned overview text; "" before the first
	// view. Listing is the digest of the catalog that was last announced.
	Overview string `json:"overview,omitempty"`
	Listing  string `json:"listing,omitempty"`
	// NoSkills: the session saw no skill when its overview was frozen.
	NoSkills bool `json:"no_skills,omitempty"`
	// Notes are the announced catalog changes.
	Notes []Note `json:"notes,omitempty"`

	// Closed are agents whose session was ended, the latest last. A record that has
	// some is of no agent itself.
	Closed []Closed `json:"closed,omitempty"`
}

// Closed is an agent whose session was ended.
type Closed struct {
	// Agent tells the session and the agent by hashes of their names.
	Agent string `json:"agent"`
	// Calls is the highest number that the agent had given to a call.
	Calls int `json:"calls"`
	// At is when the session ended, in Unix seconds.
	At int64 `json:"at"`
}

// Mark recognises a user message: by a hash of its text, by how many user
// messages stand before it, and by the turn that it began.
type Mark struct {
	Hash    string `json:"hash,omitempty"`
	Ordinal int    `json:"ordinal,omitempty"`
	Turn    int    `json:"turn,omitempty"`
}

// Active is one loaded skill.
type Active struct {
	Skill string `json:"skill"`
	// Call is the number of the call that loaded it; 0 for an imported one.
	Call int `json:"call,omitempty"`
	// Digest is the hex SHA-256 of the body that was delivered.
	Digest string `json:"digest"`
	// Docs are the selected docs in selection order; All reports that every
	// doc was asked for.
	Docs []string `json:"docs,omitempty"`
	All  bool     `json:"all,omitempty"`
	// Used is the value of the use clock at the last load or selection, Loaded
	// that at the last load; 0 for an imported one.
	Used   int `json:"used"`
	Loaded int `json:"loaded,omitempty"`
}

// Delivery is the content of one skill that one call brought into view, pinned
// by digest. It stays at that call's result for as long as it is listed here.
type Delivery struct {
	// Call is the number of the call; a call that names several skills makes
	// several deliveries.
	Call  int    `json:"call"`
	Turn  int    `json:"turn"`
	Skill string `json:"skill"`
	// Digest is the hex SHA-256 of the skill's body at the delivery. Body
	// reports that this call delivered the body and not only docs.
	Digest string `json:"digest"`
	Body   bool   `json:"body,omitempty"`
	Docs   []Doc  `json:"docs,omitempty"`
	// Anchor is the user message that carries a delivery made without a call.
	Anchor *Mark `json:"anchor,omitempty"`
	// Supersedes reports that an older text of the skill was in view; Old that
	// this one is that older text and goes at the next break.
	Supersedes bool `json:"supersedes,omitempty"`
	Old        bool `json:"old,omitempty"`
	// Seen reports that a request contained the message of the delivery; Spent
	// that the model has answered since (kept in load mode once only).
	Seen  bool `json:"seen,omitempty"`
	Spent bool `json:"spent,omitempty"`
	// Ended reports that the load is over and that its content is in view only
	// because clearing it does not pay yet. Nothing counts it as loaded.
	Ended bool `json:"ended,omitempty"`
}

// Doc is a delivered doc, pinned by the hex SHA-256 of its text. Old reports
// that a newer text of it was delivered since.
type Doc struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
	Old    bool   `json:"old,omitempty"`
}

// Pending is a call that the model made and that has a number. Answer is set
// once it was answered, so that a resumed or repeated execution of the same
// call answers the same and changes nothing.
type Pending struct {
	Call int           `json:"call"`
	From core.ToolCall `json:"from"`
	// Done reports that the call ended: answered, failed or denied.
	Done   bool   `json:"done,omitempty"`
	Answer string `json:"answer,omitempty"`
}

// Other is a call of a response without a number of its own. After is the number
// of the last call before it that has one, 0 if there is none.
type Other struct {
	ID    string `json:"id,omitempty"`
	Name  string `json:"name"`
	After int    `json:"after,omitempty"`
}

// Note is an announced change of the catalog, shown at the user message that
// began a turn.
type Note struct {
	Anchor Mark   `json:"anchor"`
	Text   string `json:"text"`
}

// Clone returns a copy that may be changed.
func (r *Record) Clone() *Record {
	c := *r
	c.Active = slices.Clone(r.Active)
	for i := range c.Active {
		c.Active[i].Docs = slices.Clone(c.Active[i].Docs)
	}
	c.Deliveries = slices.Clone(r.Deliveries)
	for i := range c.Deliveries {
		c.Deliveries[i].Docs = slices.Clone(c.Deliveries[i].Docs)
		if a := c.Deliveries[i].Anchor; a != nil {
			c.Deliveries[i].Anchor = new(*a)
		}
	}
	c.Pending = slices.Clone(r.Pending)
	c.Notes = slices.Clone(r.Notes)
	c.Tokens = slices.Clone(r.Tokens)
	c.Others = slices.Clone(r.Others)
	c.Held = slices.Clone(r.Held)
	for i := range c.Held {
		c.Held[i].Tools = slices.Clone(c.Held[i].Tools)
	}
	c.Closed = slices.Clone(r.Closed)
	c.Grants = slices.Clone(r.Grants)
	for i := range c.Grants {
		c.Grants[i].Skills = maps.Clone(c.Grants[i].Skills)
	}
	return &c
}

// Find returns the loaded skill of that name, or nil.
func (r *Record) Find(skill string) *Active {
	for i := range r.Active {
		if r.Active[i].Skill == skill {
			return &r.Active[i]
		}
	}
	return nil
}
