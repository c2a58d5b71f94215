-- The name of the schema stands in place of the word before each dot.
CREATE TABLE SCHEMA.record (
	session bytea NOT NULL,
	agent   bytea NOT NULL,
	version bigint NOT NULL,
	marks   bytea NOT NULL,
	body    bytea NOT NULL,
	day     timestamptz NOT NULL,
	PRIMARY KEY (session, agent)
) PARTITION BY HASH (session);

CREATE TABLE SCHEMA.pin (
	session bytea NOT NULL,
	digest  bytea NOT NULL,
	day     timestamptz NOT NULL,
	PRIMARY KEY (session, digest)
) PARTITION BY HASH (session);

DO $$
BEGIN
	FOR n IN 0..15 LOOP
		EXECUTE format('CREATE TABLE SCHEMA.record_%s PARTITION OF SCHEMA.record FOR VALUES WITH (MODULUS 16, REMAINDER %s) WITH (fillfactor=60)', n, n);
		EXECUTE format('CREATE TABLE SCHEMA.pin_%s PARTITION OF SCHEMA.pin FOR VALUES WITH (MODULUS 16, REMAINDER %s)', n, n);
		EXECUTE format('ALTER TABLE SCHEMA.record_%s ALTER body SET STORAGE EXTERNAL', n);
	END LOOP;
END $$;

CREATE INDEX record_day ON SCHEMA.record (day);
CREATE INDEX pin_day ON SCHEMA.pin (day);
CREATE INDEX pin_digest ON SCHEMA.pin (digest);

CREATE TABLE SCHEMA.text (
	digest bytea PRIMARY KEY,
	body   bytea NOT NULL,
	day    timestamptz NOT NULL
);
ALTER TABLE SCHEMA.text ALTER body SET STORAGE EXTERNAL;
CREATE INDEX text_day ON SCHEMA.text (day);

CREATE TABLE SCHEMA.lease (
	session bytea PRIMARY KEY,
	holder  bytea NOT NULL,
	fence   bigint NOT NULL,
	until   timestamptz NOT NULL,
	wanted  boolean NOT NULL
);
CREATE SEQUENCE SCHEMA.fence;

CREATE TABLE SCHEMA.closed (
	session bytea NOT NULL,
	agent   bytea NOT NULL,
	calls   bigint NOT NULL,
	day     timestamptz NOT NULL,
	PRIMARY KEY (session, agent)
);
CREATE INDEX closed_day ON SCHEMA.closed (day);
