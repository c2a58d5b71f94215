package storetest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/satchel-go/satchel/library"
)

var errAborted = errors.New("the statement was not executed")

// breaking is a driver.Connector whose connections fail at one statement.
type breaking struct {
	driver.Connector
	left atomic.Int64 // statements until one fails; below 1 none does
}

// spend counts a statement, and returns an error if it is the one that fails.
func (b *breaking) spend() error {
	if b.left.Add(-1) == 0 {
		return errAborted
	}
	return nil
}

func (b *breaking) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := b.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &breakingConn{conn, b}, nil
}

// breakingConn is a connection that counts its statements.
type breakingConn struct {
	driver.Conn
	by *breaking
}

func (c *breakingConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if err := c.by.spend(); err != nil {
		return nil, err
	}
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &breakingTx{tx, c.by}, nil
}

func (c *breakingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.by.spend(); err != nil {
		return nil, err
	}
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c *breakingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.by.spend(); err != nil {
		return nil, err
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

// CheckNamedValue lets the connection convert arguments, if it does.
func (c *breakingConn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// breakingTx is a transaction whose commit may fail, as if the server had stopped before it.
type breakingTx struct {
	driver.Tx
	by *breaking
}

func (t *breakingTx) Commit() error {
	if err := t.by.spend(); err != nil {
		return errors.Join(err, t.Tx.Rollback())
	}
	return t.Tx.Commit()
}

// Aborted makes each statement of a commit fail in turn, from the beginning of the transaction to
// its end. It then checks with store other, over the same database, that no part of the commit is
// stored. over returns a store over a database handle.
func Aborted(t *testing.T, connector driver.Connector, other library.Store, over func(*sql.DB) library.Store) {
	t.Helper()
	b := &breaking{Connector: connector}
	db := sql.OpenDB(b)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	l, err := library.New(other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Import(t.Context(), actor, skill, map[string][]byte{"SKILL.md": []byte(text(0))}, false, ""); err != nil {
		t.Fatal(err)
	}
	heads, seq, err := other.Heads(t.Context(), actor.Tenant, 0)
	if err != nil {
		t.Fatal(err)
	}
	first, err := other.Load(t.Context(), actor.Tenant, heads[0].ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	next, digest := heads[0], "d1gest"
	next.Version, next.Digest = 2, digest
	revision := first
	revision.Version, revision.Digest = 2, digest
	change := library.Change{
		Tenant: actor.Tenant, Head: &next, Base: 1, Revision: &revision, Blobs: map[string][]byte{digest: []byte("new")},
		Entry:  library.Entry{At: first.At, Action: "patch", ID: next.ID, From: 1, To: 2, Outcome: "applied"},
		Grants: map[string]library.Role{"bob": "editor"}, Keep: 1,
	}
	store := over(db)
	for n := int64(1); ; n++ {
		b.left.Store(n)
		_, err := store.Commit(t.Context(), change)
		if err == nil {
			if n < 10 {
				t.Errorf("a commit has %d statements: were they counted?", n-1)
			}
			break
		}
		if !errors.Is(err, errAborted) || n > 100 {
			t.Fatalf("statement %d: %v", n, err)
		}
		heads, now, headsErr := other.Heads(t.Context(), actor.Tenant, 0)
		entries, entriesErr := other.Entries(t.Context(), actor.Tenant, library.LogQuery{})
		roles, rolesErr := other.Grants(t.Context(), actor.Tenant, "bob")
		if headsErr != nil || entriesErr != nil || rolesErr != nil || now != seq || heads[0].Version != 1 || len(entries) != 1 || len(roles) != 0 {
			t.Fatalf("after statement %d failed: seq %d, head %+v, %d entries, roles %v, %v %v %v", n, now, heads[0], len(entries), roles, headsErr, entriesErr, rolesErr)
		}
		_, loaded := other.Load(t.Context(), actor.Tenant, next.ID, 2)
		_, blob := other.Blob(t.Context(), actor.Tenant, digest)
		if !errors.Is(loaded, library.ErrUnknown) || !errors.Is(blob, library.ErrUnknown) {
			t.Fatalf("after statement %d failed: revision %v, blob %v", n, loaded, blob)
		}
		if _, err := other.Load(t.Context(), actor.Tenant, next.ID, 1); err != nil {
			t.Fatalf("after statement %d failed version 1 is %v", n, err)
		}
	}
	if r, err := other.Load(t.Context(), actor.Tenant, next.ID, 0); err != nil || r.Version != 2 {
		t.Errorf("when none failed the newest is %+v, %v", r, err)
	}
}
