package library

import (
	"context"
	"time"
)

// State is where a skill stands.
type State string

// The states.
const (
	Active   State = "active"
	Draft    State = "draft"    // its owner and maintainers see it
	Archived State = "archived" // no caller finds it; inspect shows it
	// Packaged is the state of a plugin skill whose overlay has ended: what is
	// installed is served.
	Packaged State = "packaged"
)

// Head is the present state of one skill of a tenant.
type Head struct {
	ID      string // canonical: "db:…" or "plugin:<plugin>:<name>"
	Plugin  string // "" for a skill of the database
	Name    string
	NameKey string // as names are compared
	Owner   string
	Shared  bool
	State   State
	// Version is that of the newest revision, from 1. Reviewed is the newest one that a person
	// made or approved, 0 for none. Served is the one that actors other than its editor get.
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
	Action             Action
	Reason             string
	Subject, Agent     string
	ReviewedBy         string // who approved this very text when it was made, or ""
	At                 time.Time
	Files              []File // sorted by path
}

// Entry is an entry of the audit.
type Entry struct {
	N                       int64 // from 1 in each tenant; the store sets it
	At                      time.Time
	Subject, Agent, Session string
	Action                  Action
	ID                      string
	From, To                int    // versions; 0 is none
	Outcome                 string // the Status of the edit, or the Code of the Error
	Detail                  string // the reason of an edit, or why it was refused
}

// LogQuery chooses entries of the audit.
type LogQuery struct {
	ID    string // of one skill; "" is all
	After int64  // entries with a higher number
	Limit int    // at most so many; below 1 is 1,000
}

// Grant gives a subject a role.
type Grant struct {
	Subject string
	Role    Role
}

// Change is what one commit does, all of it or nothing.
type Change struct {
	Tenant string
	// Head is the new head; nil writes the entry and the grant only. Base is the
	// version that the head must have; 0 says that there is no such skill yet.
	Head *Head
	Base int
	// Revision is the new revision, nil where only the head changes, and Blobs are its
	// files by digest; those that are there already may be left out.
	Revision *Revision
	Blobs    map[string][]byte
	Entry    Entry
	Grant    *Grant
	// Keep is how many revisions of the skill stay; 0 is all.
	Keep int
}

// Store keeps what a library holds. Tenants are apart in every method.
// Implementations are safe for concurrent use, by several processes if they claim it,
// and pass librarytest.Run. An error that is none of this package's says that the
// store does not answer.
type Store interface {
	// Heads returns the heads that were changed after a seq, archived ones too,
	// ordered by seq, and the highest seq of the tenant. A seq is visible only when
	// all smaller ones are.
	Heads(ctx context.Context, tenant string, after int64) (heads []Head, seq int64, err error)
	// Load returns a revision; version 0 is the newest. A revision that is not there is
	// ErrUnknown.
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
	// Grants returns the roles that a subject was granted.
	Grants(ctx context.Context, tenant, subject string) ([]Role, error)
}

// Notifier is a store that tells of changes, made by this process or others.
type Notifier interface {
	// Notify calls f soon after a change until stop is called. It may call it once
	// for several changes and without one.
	Notify(f func()) (stop func())
}

// DefaultEntries is how many entries a query without a limit returns.
const DefaultEntries = 1000
