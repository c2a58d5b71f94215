-- Rows of before have the names of their session and agent inside their bodies, in a form
-- that this release does not read.
DELETE FROM SCHEMA.record;

ALTER TABLE SCHEMA.record ADD COLUMN id bytea NOT NULL, ADD COLUMN name bytea NOT NULL;

DROP TABLE SCHEMA.lease;

DROP SEQUENCE SCHEMA.fence;
