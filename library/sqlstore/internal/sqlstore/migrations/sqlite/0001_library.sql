-- Statements are divided by lines of two semicolons. Times are microseconds, UTC.
CREATE TABLE tenant_seq (
	tenant TEXT PRIMARY KEY,
	seq INTEGER NOT NULL,
	audited INTEGER NOT NULL
)
;;
CREATE TABLE skills (
	tenant TEXT NOT NULL, id TEXT NOT NULL, source TEXT NOT NULL, plugin TEXT NOT NULL, name TEXT NOT NULL, name_key TEXT NOT NULL,
	owner TEXT NOT NULL, shared BOOLEAN NOT NULL, state TEXT NOT NULL,
	version INTEGER NOT NULL, reviewed INTEGER NOT NULL, served INTEGER NOT NULL,
	digest TEXT NOT NULL, base_digest TEXT NOT NULL, editor TEXT NOT NULL, head BLOB NOT NULL,
	seq INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
	PRIMARY KEY (tenant, id)
)
;;
CREATE UNIQUE INDEX skills_shared_name ON skills (tenant, name_key) WHERE shared AND source = 'db' AND state <> 'archived'
;;
CREATE UNIQUE INDEX skills_private_name ON skills (tenant, owner, name_key) WHERE NOT shared AND source = 'db' AND state <> 'archived'
;;
CREATE INDEX skills_seq ON skills (tenant, seq)
;;
CREATE TABLE revisions (
	tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, digest TEXT NOT NULL, base_digest TEXT NOT NULL,
	action TEXT NOT NULL, reason TEXT NOT NULL, subject TEXT NOT NULL, agent TEXT NOT NULL, reviewed_by TEXT NOT NULL, created_at INTEGER NOT NULL,
	PRIMARY KEY (tenant, id, version)
)
;;
CREATE TABLE revision_files (
	tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, path TEXT NOT NULL, digest TEXT NOT NULL, size INTEGER NOT NULL, executable BOOLEAN NOT NULL,
	PRIMARY KEY (tenant, id, version, path)
)
;;
CREATE TABLE blobs (
	tenant TEXT NOT NULL, digest TEXT NOT NULL, bytes BLOB NOT NULL,
	PRIMARY KEY (tenant, digest)
)
;;
CREATE TABLE audit (
	tenant TEXT NOT NULL, n INTEGER NOT NULL, at INTEGER NOT NULL, subject TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL,
	action TEXT NOT NULL, id TEXT NOT NULL, from_version INTEGER NOT NULL, to_version INTEGER NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL,
	PRIMARY KEY (tenant, n)
)
;;
CREATE INDEX audit_skill ON audit (tenant, id, n)
;;
CREATE TABLE grants (
	tenant TEXT NOT NULL, subject TEXT NOT NULL, role TEXT NOT NULL,
	PRIMARY KEY (tenant, subject, role)
)
;;
-- A row is here while a transaction prunes, which may delete revisions; nobody else may.
CREATE TABLE pruning (tenant TEXT PRIMARY KEY)
;;
CREATE TRIGGER revisions_not_updated BEFORE UPDATE ON revisions BEGIN SELECT RAISE(ABORT, 'rows of revisions are never changed'); END
;;
CREATE TRIGGER revisions_not_deleted BEFORE DELETE ON revisions WHEN NOT EXISTS (SELECT 1 FROM pruning WHERE tenant = OLD.tenant) BEGIN SELECT RAISE(ABORT, 'rows of revisions are never changed'); END
;;
CREATE TRIGGER revision_files_not_updated BEFORE UPDATE ON revision_files BEGIN SELECT RAISE(ABORT, 'rows of revision_files are never changed'); END
;;
CREATE TRIGGER revision_files_not_deleted BEFORE DELETE ON revision_files WHEN NOT EXISTS (SELECT 1 FROM pruning WHERE tenant = OLD.tenant) BEGIN SELECT RAISE(ABORT, 'rows of revision_files are never changed'); END
;;
CREATE TRIGGER blobs_not_updated BEFORE UPDATE ON blobs BEGIN SELECT RAISE(ABORT, 'rows of blobs are never changed'); END
;;
CREATE TRIGGER blobs_not_deleted BEFORE DELETE ON blobs BEGIN SELECT RAISE(ABORT, 'rows of blobs are never changed'); END
;;
CREATE TRIGGER audit_not_updated BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'rows of audit are never changed'); END
;;
CREATE TRIGGER audit_not_deleted BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'rows of audit are never changed'); END
