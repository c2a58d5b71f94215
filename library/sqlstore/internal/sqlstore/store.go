package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/library/internal/listeners"
)

// Dialect holds the differences between databases.
type Dialect struct {
	Name string // of its folder of migrations
	// RowLock is the end of a query that locks the rows that it reads, such as " FOR UPDATE". It
	// is empty if the database lets only one transaction write at a time.
	RowLock string
	// IsNumbered reports that arguments are $1, $2 … in place of ?.
	IsNumbered bool
	// MigrationLock is a statement that waits until no other transaction migrates. It is empty
	// if only one transaction writes at a time.
	MigrationLock string
	// IsTaken reports whether the error says that a unique index has refused a row.
	IsTaken func(error) bool
	// IsPassing reports whether a transaction failed because of other transactions, so that a
	// retry may succeed.
	IsPassing func(error) bool
	// AfterCommit is a statement that each transaction executes before it commits a change. Its
	// argument is the tenant. "" is none.
	AfterCommit string
}

// Store is a library.Store in a SQL database. It is safe for concurrent use, by several
// processes too.
type Store struct {
	read, write *sql.DB
	dialect     Dialect

	listeners listeners.Listeners
	close     []func() error
}

var (
	_ library.Store   = (*Store)(nil)
	_ source.Notifier = (*Store)(nil)
)

// New returns a store over open databases; read and write may be the same one. Before other calls,
// call [Store.Migrate] or [Store.Check].
func New(read, write *sql.DB, dialect Dialect) *Store {
	return &Store{read: read, write: write, dialect: dialect}
}

// OnClose adds a function that Close calls before it closes the databases, the last first.
func (s *Store) OnClose(f func() error) { s.close = append(s.close, f) }

// Close closes the databases.
func (s *Store) Close() error {
	var errs []error
	for _, f := range slices.Backward(s.close) {
		errs = append(errs, f())
	}
	s.close = nil
	errs = append(errs, s.write.Close())
	if s.read != s.write {
		errs = append(errs, s.read.Close())
	}
	return errors.Join(errs...)
}

// Notify implements source.Notifier.
func (s *Store) Notify(f func()) (stop func()) { return s.listeners.Add(f) }

// NotifyAll calls the functions that Notify got. Packages sqlite and postgres call it after a change
// of another process.
func (s *Store) NotifyAll() { s.listeners.Notify() }

// sql returns a query with the placeholders of the dialect.
func (s *Store) sql(query string) string {
	if !s.dialect.IsNumbered {
		return query
	}
	var b strings.Builder
	n := 0
	for _, r := range query {
		if r == '?' {
			n++
			fmt.Fprintf(&b, "$%d", n)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// micro returns a time in microseconds, as the database keeps it.
func micro(t time.Time) int64 { return t.UnixMicro() }

func timeOf(micro int64) time.Time { return time.UnixMicro(micro).UTC() }

const headColumns = `id, plugin, name, name_key, owner, shared, state, version, reviewed, served, digest, base_digest, editor, head, seq, created_at, updated_at`

// Heads implements library.Store. It reads the seq before the heads. So the next call returns a head
// again that changes in between.
func (s *Store) Heads(ctx context.Context, tenant string, after int64) ([]library.Head, int64, error) {
	var seq int64
	err := s.read.QueryRowContext(ctx, s.sql(`SELECT seq FROM tenant_seq WHERE tenant = ?`), tenant).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, 0, nil
	}
	if err != nil || seq <= after {
		return nil, seq, fault(ctx, err)
	}
	heads, err := list(ctx, s, func(rows *sql.Rows, h *library.Head) error {
		var created, updated int64
		err := rows.Scan(&h.ID, &h.Plugin, &h.Name, &h.NameKey, &h.Owner, &h.Shared, &h.State, &h.Version, &h.Reviewed, &h.Served,
			&h.Digest, &h.BaseDigest, &h.Editor, &h.Front, &h.Seq, &created, &updated)
		h.Created, h.Updated = timeOf(created), timeOf(updated)
		seq = max(seq, h.Seq)
		return err
	}, `SELECT `+headColumns+` FROM skills WHERE tenant = ? AND seq > ? ORDER BY seq`, tenant, after)
	return heads, seq, err
}

// list reads all rows of a query.
func list[T any](ctx context.Context, s *Store, scan func(rows *sql.Rows, one *T) error, query string, args ...any) ([]T, error) {
	rows, err := s.read.QueryContext(ctx, s.sql(query), args...)
	if err != nil {
		return nil, fault(ctx, err)
	}
	defer func() { _ = rows.Close() }()
	var all []T
	for rows.Next() {
		var one T
		if err := scan(rows, &one); err != nil {
			return nil, fault(ctx, err)
		}
		all = append(all, one)
	}
	return all, fault(ctx, rows.Err())
}

// Load implements library.Store.
func (s *Store) Load(ctx context.Context, tenant, id string, version int) (library.Revision, error) {
	query := `SELECT version, digest, base_digest, action, reason, subject, agent, reviewed_by, created_at FROM revisions WHERE tenant = ? AND id = ?`
	args := []any{tenant, id}
	if version != 0 {
		query, args = query+` AND version = ?`, append(args, version)
	}
	r := library.Revision{ID: id}
	var at int64
	err := s.read.QueryRowContext(ctx, s.sql(query+` ORDER BY version DESC LIMIT 1`), args...).
		Scan(&r.Version, &r.Digest, &r.BaseDigest, &r.Action, &r.Reason, &r.Subject, &r.Agent, &r.ReviewedBy, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return library.Revision{}, fmt.Errorf("version %d of %s: %w", version, id, library.ErrUnknown)
	}
	if err != nil {
		return library.Revision{}, fault(ctx, err)
	}
	r.At = timeOf(at)
	r.Files, err = list(ctx, s, func(rows *sql.Rows, f *library.File) error {
		return rows.Scan(&f.Path, &f.Digest, &f.Size, &f.Executable)
	}, `SELECT path, digest, size, executable FROM revision_files WHERE tenant = ? AND id = ? AND version = ? ORDER BY path`, tenant, id, r.Version)
	return r, err
}

// Blob implements library.Store.
func (s *Store) Blob(ctx context.Context, tenant, digest string) ([]byte, error) {
	data := []byte{}
	err := s.read.QueryRowContext(ctx, s.sql(`SELECT bytes FROM blobs WHERE tenant = ? AND digest = ?`), tenant, digest).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("blob %.12s: %w", digest, library.ErrUnknown)
	}
	return data, fault(ctx, err)
}

// Entries implements library.Store.
func (s *Store) Entries(ctx context.Context, tenant string, q library.LogQuery) ([]library.Entry, error) {
	if q.Limit < 1 {
		q.Limit = defaultEntries
	}
	query, args := `SELECT n, at, subject, agent, session, action, id, from_version, to_version, outcome, detail FROM audit WHERE tenant = ? AND n > ?`, []any{tenant, q.After}
	if q.ID != "" {
		query, args = query+` AND id = ?`, append(args, q.ID)
	}
	return list(ctx, s, func(rows *sql.Rows, e *library.Entry) error {
		var at int64
		err := rows.Scan(&e.N, &at, &e.Subject, &e.Agent, &e.Session, &e.Action, &e.ID, &e.From, &e.To, &e.Outcome, &e.Detail)
		e.At = timeOf(at)
		return err
	}, query+` ORDER BY n LIMIT ?`, append(args, q.Limit)...)
}

// Grants implements library.Store.
func (s *Store) Grants(ctx context.Context, tenant, subject string) ([]library.Role, error) {
	return list(ctx, s, func(rows *sql.Rows, role *library.Role) error { return rows.Scan(role) },
		`SELECT role FROM grants WHERE tenant = ? AND subject = ? ORDER BY role`, tenant, subject)
}

// fault returns the error of ctx if it has ended, else err.
func fault(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("library: %w", err)
}
