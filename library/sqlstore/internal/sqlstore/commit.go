package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/satchel-go/satchel/library"
)

// Commit implements library.Store.
func (s *Store) Commit(ctx context.Context, c library.Change) (library.Head, error) {
	for n := 1; ; n++ {
		head, err := s.commit(ctx, &c)
		switch {
		case err == nil:
			s.NotifyAll()
			return head, nil
		case errors.Is(err, library.ErrConflict), errors.Is(err, library.ErrNameTaken):
			return library.Head{}, err
		case n == attempts || ctx.Err() != nil || !s.dialect.IsPassing(err):
			return library.Head{}, fault(ctx, err)
		}
		select {
		case <-ctx.Done():
			return library.Head{}, ctx.Err()
		case <-time.After(time.Duration(n*n) * firstPause):
		}
	}
}

// tx is one transaction.
type tx struct {
	*sql.Tx
	ctx   context.Context
	store *Store
}

func (t *tx) exec(query string, args ...any) error {
	_, err := t.ExecContext(t.ctx, t.store.sql(query), args...)
	return err
}

func (s *Store) commit(ctx context.Context, c *library.Change) (library.Head, error) {
	began, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return library.Head{}, err
	}
	defer func() { _ = began.Rollback() }() // changes nothing after Commit
	t := &tx{began, ctx, s}
	head, err := t.change(c)
	if err != nil {
		return library.Head{}, err
	}
	return head, began.Commit()
}

// change locks the row of the tenant and writes a change.
func (t *tx) change(c *library.Change) (library.Head, error) {
	if err := t.exec(`INSERT INTO tenant_seq (tenant, seq, audited) VALUES (?, 0, 0) ON CONFLICT (tenant) DO NOTHING`, c.Tenant); err != nil {
		return library.Head{}, err
	}
	var seq, audited int64
	if err := t.QueryRowContext(t.ctx, t.store.sql(`SELECT seq, audited FROM tenant_seq WHERE tenant = ?`+t.store.dialect.RowLock), c.Tenant).Scan(&seq, &audited); err != nil {
		return library.Head{}, err
	}
	var head library.Head
	if c.Head != nil {
		seq++
		head = *c.Head
		head.Seq = seq
		if err := t.revision(c); err != nil {
			return head, err
		}
		if err := t.head(c, &head); err != nil {
			return head, err
		}
		if err := t.prune(c, &head); err != nil {
			return head, err
		}
	}
	for _, subject := range slices.Sorted(maps.Keys(c.Grants)) {
		if err := t.exec(`DELETE FROM grants WHERE tenant = ? AND subject = ?`, c.Tenant, subject); err != nil {
			return head, err
		}
		if err := t.exec(`INSERT INTO grants (tenant, subject, role) VALUES (?, ?, ?)`, c.Tenant, subject, string(c.Grants[subject])); err != nil {
			return head, err
		}
	}
	e := c.Entry
	if err := t.exec(`INSERT INTO audit (tenant, n, at, subject, agent, session, action, id, from_version, to_version, outcome, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.Tenant, audited+1, micro(e.At), e.Subject, e.Agent, e.Session, e.Action, e.ID, e.From, e.To, e.Outcome, e.Detail); err != nil {
		return head, err
	}
	if err := t.exec(`UPDATE tenant_seq SET seq = ?, audited = ? WHERE tenant = ?`, seq, audited+1, c.Tenant); err != nil {
		return head, err
	}
	if after := t.store.dialect.AfterCommit; after != "" && c.Head != nil {
		return head, t.exec(after, c.Tenant)
	}
	return head, nil
}

// head writes the head if the stored one has the version Change.Base.
func (t *tx) head(c *library.Change, h *library.Head) error {
	values := []any{
		h.Plugin, h.Name, h.NameKey, h.Owner, h.Shared, h.State, h.Version, h.Reviewed, h.Served, h.Digest, h.BaseDigest,
		h.Editor, h.Front, h.Seq, micro(h.Created), micro(h.Updated), sourceOf(h),
	}
	if h.Front == nil {
		values[12] = []byte{}
	}
	err := error(nil)
	if c.Base == 0 {
		err = t.exec(`INSERT INTO skills (plugin, name, name_key, owner, shared, state, version, reviewed, served, digest, base_digest, editor, head, seq, created_at, updated_at, source, tenant, id)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, append(values, c.Tenant, h.ID)...)
	} else {
		err = t.exec(`UPDATE skills SET plugin = ?, name = ?, name_key = ?, owner = ?, shared = ?, state = ?, version = ?, reviewed = ?, served = ?, digest = ?, base_digest = ?,
			editor = ?, head = ?, seq = ?, created_at = ?, updated_at = ?, source = ? WHERE tenant = ? AND id = ?`, append(values, c.Tenant, h.ID)...)
	}
	if err != nil && t.store.dialect.IsTaken(err) {
		return fmt.Errorf("%q: %w", h.Name, library.ErrNameTaken)
	}
	return err
}

func sourceOf(h *library.Head) string {
	if h.Plugin != "" {
		return "plugin"
	}
	return "db"
}

// revision checks the base and writes blobs, revision and files.
func (t *tx) revision(c *library.Change) error {
	version := 0
	err := t.QueryRowContext(t.ctx, t.store.sql(`SELECT version FROM skills WHERE tenant = ? AND id = ?`), c.Tenant, c.Head.ID).Scan(&version)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if version != c.Base {
		return fmt.Errorf("%s is at version %d: %w", c.Head.ID, version, library.ErrConflict)
	}
	if c.Revision == nil {
		return nil
	}
	for _, digest := range slices.Sorted(maps.Keys(c.Blobs)) {
		data := c.Blobs[digest]
		if data == nil {
			data = []byte{}
		}
		if err := t.exec(`INSERT INTO blobs (tenant, digest, bytes) VALUES (?, ?, ?) ON CONFLICT (tenant, digest) DO NOTHING`, c.Tenant, digest, data); err != nil {
			return err
		}
	}
	r := c.Revision
	if err := t.exec(`INSERT INTO revisions (tenant, id, version, digest, base_digest, action, reason, subject, agent, reviewed_by, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.Tenant, r.ID, r.Version, r.Digest, r.BaseDigest, r.Action, r.Reason, r.Subject, r.Agent, r.ReviewedBy, micro(r.At)); err != nil {
		return err
	}
	for _, f := range r.Files {
		if err := t.exec(`INSERT INTO revision_files (tenant, id, version, path, digest, size, executable) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			c.Tenant, r.ID, r.Version, f.Path, f.Digest, f.Size, f.Executable); err != nil {
			return err
		}
	}
	return nil
}

// prune removes old revisions, but never one that is served or was reviewed last.
func (t *tx) prune(c *library.Change, h *library.Head) error {
	if c.Keep < 1 || c.Revision == nil || h.Version <= c.Keep {
		return nil
	}
	if err := t.exec(`INSERT INTO pruning (tenant) VALUES (?)`, c.Tenant); err != nil {
		return err
	}
	for _, table := range []string{"revision_files", "revisions"} {
		if err := t.exec(`DELETE FROM `+table+` WHERE tenant = ? AND id = ? AND version <= ? AND version <> ? AND version <> ?`,
			c.Tenant, h.ID, h.Version-c.Keep, h.Served, h.Reviewed); err != nil {
			return err
		}
	}
	return t.exec(`DELETE FROM pruning WHERE tenant = ?`, c.Tenant)
}
