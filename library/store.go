package library

import (
	"context"
	"time"
)

// The states of a skill.
const (
	stateActive   = "active"
	stateDraft    = "draft"    // its owner and maintainers see it
	stateArchived = "archived" // hidden from lists and names; Inspect finds it by its id
	// statePackaged is the state of a plugin skill whose overlay was archived. Actors get the
	// installed text again.
	statePackaged = "packaged"
)

// Head is the current state of one skill of a tenant.
type Head struct {
	ID      string // canonical: "db:…" or "plugin:<plugin>:<name>"
	Plugin  string // "" for a skill of the database
	Name    string
	NameKey string // the name in the form in which names are compared
	Owner   string
	Shared  bool
	// State is "active", "draft", "archived", or "packaged" for a plugin skill whose overlay
	// has ended.
	State string
	// Version is the newest version, from 1. Reviewed is the newest version that a person made
	// or approved, 0 for none. Served is the version that actors other than the editor get.
	Version, Reviewed, Served int
	Digest, BaseDigest        string // of the newest revision, and of the packaged text below it
	Editor                    string // the subject of the newest revision
	Front                     []byte // SKILL.md of the newest revision, to the end of its front matter
	Seq                       int64  // of the change that made this head; the store sets it
	Created, Updated          time.Time
}

// File is a file of a revision.
type File struct {
	Path       string
	Digest     string // SHA-256 in lower-case hex
	Size       int64
	Executable bool
}

// Revision is one version of a skill. It is never changed.
type Revision struct {
	ID                 string
	Version            int
	Digest, BaseDigest string
	Action             string // of the edit that made it; see [Edit]
	Reason             string
	Subject, Agent     string
	ReviewedBy         string // the person who approved the text before the commit, or ""
	At                 time.Time
	Files              []File // sorted by path
}

// Entry is an entry of the audit.
type Entry struct {
	N                       int64 // from 1 in each tenant; the store sets it
	At                      time.Time
	Subject, Agent, Session string
	Action                  string // see [Edit]; also "review", "restore", "rebase" and "grant"
	ID                      string
	From, To                int // versions; 0 is none
	// Outcome is the Status of the edit. If the edit was refused, it is unknown, ambiguous,
	// refused, denied, conflict, invalid, no_match, not_unique, too_large or unavailable.
	Outcome string
	Detail  string // the reason of an edit, or why it was refused
}

// LogQuery chooses entries of the audit.
type LogQuery struct {
	ID    string // of one skill; "" is all
	After int64  // entries with a higher number
	Limit int    // the most entries that are returned; below 1 it is 1,000
}

// Change is one commit: a store makes all of it or nothing.
type Change struct {
	Tenant string
	// Head is the new head. If it is nil, the store writes only the entry and the grants.
	Head *Head
	// Base is the version that the stored head must have; 0 if the skill must not exist yet.
	Base int
	// Revision is the new revision, nil if only the head changes.
	Revision *Revision
	// Blobs are the files of the revision by digest. Files that the store already has may be
	// missing.
	Blobs map[string][]byte
	// Entry is the new entry of the audit.
	Entry Entry
	// Grants are the new roles of subjects. A subject loses the role that it was granted before.
	Grants map[string]Role
	// Keep is how many revisions of the skill the store keeps; 0 is all.
	Keep int
}

// Store keeps the skills, revisions, audit and grants of a library. No method shows data of
// another tenant. Implementations are safe for concurrent use, by several processes if they say
// so, and pass librarytest.Run. An error that does not wrap one of this package means that the
// store does not answer.
//
// A store that can report changes, by this process or others, also implements source.Notifier. It
// calls the function soon after a change. One call may stand for several changes, or for none.
type Store interface {
	// Heads returns the heads that were changed after a seq, archived ones too, ordered by
	// seq. It also returns the highest seq of the tenant. A seq is visible only when all
	// smaller ones are.
	Heads(ctx context.Context, tenant string, after int64) (heads []Head, seq int64, err error)
	// Load returns a revision; version 0 is the newest. It returns ErrUnknown if there is no
	// such revision.
	Load(ctx context.Context, tenant, id string, version int) (Revision, error)
	// Commit stores a change. It returns ErrConflict if the version of the head is not
	// Change.Base. It returns ErrNameTaken if the name belongs to another skill of the
	// database that is not archived: a shared one of the tenant, or a private one of the
	// owner.
	Commit(ctx context.Context, c Change) (Head, error)
	// Blob returns the bytes of a file by their digest, or ErrUnknown.
	Blob(ctx context.Context, tenant, digest string) ([]byte, error)
	// Entries returns entries of the audit by their number.
	Entries(ctx context.Context, tenant string, q LogQuery) ([]Entry, error)
	// Grants returns the roles that a subject has by Change.Grants.
	Grants(ctx context.Context, tenant, subject string) ([]Role, error)
}
