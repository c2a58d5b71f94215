-- Statements are divided by lines of two semicolons. Times are microseconds, UTC.
CREATE TABLE tenant_seq (
	tenant TEXT COLLATE "C" PRIMARY KEY,
	seq BIGINT NOT NULL,
	audited BIGINT NOT NULL
)
;;
CREATE TABLE skills (
	tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, source TEXT COLLATE "C" NOT NULL, plugin TEXT COLLATE "C" NOT NULL, name TEXT COLLATE "C" NOT NULL, name_key TEXT COLLATE "C" NOT NULL,
	owner TEXT COLLATE "C" NOT NULL, shared BOOLEAN NOT NULL, state TEXT COLLATE "C" NOT NULL,
	version BIGINT NOT NULL, reviewed BIGINT NOT NULL, served BIGINT NOT NULL,
	digest TEXT COLLATE "C" NOT NULL, base_digest TEXT COLLATE "C" NOT NULL, editor TEXT COLLATE "C" NOT NULL, head BYTEA NOT NULL,
	seq BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
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
	tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, digest TEXT COLLATE "C" NOT NULL, base_digest TEXT COLLATE "C" NOT NULL,
	action TEXT COLLATE "C" NOT NULL, reason TEXT COLLATE "C" NOT NULL, subject TEXT COLLATE "C" NOT NULL, agent TEXT COLLATE "C" NOT NULL, reviewed_by TEXT COLLATE "C" NOT NULL, created_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id, version)
)
;;
CREATE TABLE revision_files (
	tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, path TEXT COLLATE "C" NOT NULL, digest TEXT COLLATE "C" NOT NULL, size BIGINT NOT NULL, executable BOOLEAN NOT NULL,
	PRIMARY KEY (tenant, id, version, path)
)
;;
CREATE TABLE blobs (
	tenant TEXT COLLATE "C" NOT NULL, digest TEXT COLLATE "C" NOT NULL, bytes BYTEA NOT NULL,
	PRIMARY KEY (tenant, digest)
)
;;
CREATE TABLE audit (
	tenant TEXT COLLATE "C" NOT NULL, n BIGINT NOT NULL, at BIGINT NOT NULL, subject TEXT COLLATE "C" NOT NULL, agent TEXT COLLATE "C" NOT NULL, session TEXT COLLATE "C" NOT NULL,
	action TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, from_version BIGINT NOT NULL, to_version BIGINT NOT NULL, outcome TEXT COLLATE "C" NOT NULL, detail TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (tenant, n)
)
;;
CREATE INDEX audit_skill ON audit (tenant, id, n)
;;
CREATE TABLE grants (
	tenant TEXT COLLATE "C" NOT NULL, subject TEXT COLLATE "C" NOT NULL, role TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (tenant, subject, role)
)
;;
-- A row is here while a transaction prunes, which may delete revisions; nobody else may.
CREATE TABLE pruning (tenant TEXT COLLATE "C" PRIMARY KEY)
;;
CREATE FUNCTION library_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'DELETE' AND TG_TABLE_NAME IN ('revisions', 'revision_files') AND EXISTS (SELECT 1 FROM pruning WHERE tenant = OLD.tenant) THEN
		RETURN OLD;
	END IF;
	RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME;
END
$$
;;
CREATE TRIGGER revisions_kept BEFORE UPDATE OR DELETE ON revisions FOR EACH ROW EXECUTE FUNCTION library_kept()
;;
CREATE TRIGGER revision_files_kept BEFORE UPDATE OR DELETE ON revision_files FOR EACH ROW EXECUTE FUNCTION library_kept()
;;
CREATE TRIGGER blobs_kept BEFORE UPDATE OR DELETE ON blobs FOR EACH ROW EXECUTE FUNCTION library_kept()
;;
CREATE TRIGGER audit_kept BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION library_kept()
