package pgstore

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

//go:embed migrations/*.sql
var migrations embed.FS

// lastMigration is the number of the last migration of this release.
const lastMigration = 2

// ErrSchema reports tables that this release cannot use.
var ErrSchema = errors.New("the schema of the database is not that of this release")

// Migrate migrates the tables in a schema to those of this release, for hosts that open their
// stores [WithoutMigration]. An empty schema means "satchel".
func Migrate(ctx context.Context, db *pgxpool.Pool, schema string) error {
	s := &Store{db: db, config: config{name: "satchel"}}
	if schema != "" {
		if err := WithSchema(schema)(&s.config); err != nil {
			return err
		}
	}
	s.schema = pgx.Identifier{s.name}.Sanitize()
	return s.migrate(ctx, true)
}

// migrate runs the missing migrations in one transaction. Only one host migrates at a time. If
// change is false, a missing migration is an error.
func (s *Store) migrate(ctx context.Context, change bool) error {
	current, err := s.migration(ctx, s.db)
	if err != nil || current == lastMigration {
		return err
	}
	if !change {
		return fmt.Errorf("%w: it is at %d, this release wants %d: call Migrate", ErrSchema, current, lastMigration)
	}
	return pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		lock := fnv.New64a()
		_, _ = lock.Write([]byte("satchel " + s.name))
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", pgx.QueryExecModeExec, int64(lock.Sum64())); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+s.schema, pgx.QueryExecModeExec); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, s.sql(`CREATE TABLE IF NOT EXISTS SCHEMA.schema (version bigint NOT NULL)`), pgx.QueryExecModeExec); err != nil {
			return err
		}
		current, err := s.migration(ctx, tx)
		if err != nil {
			return err
		}
		for n := current + 1; n <= lastMigration; n++ {
			text, err := migrations.ReadFile(fmt.Sprintf("migrations/%03d.sql", n))
			if err != nil {
				return err
			}
			for _, statement := range splitStatements(s.sql(string(text))) {
				if _, err := tx.Exec(ctx, statement, pgx.QueryExecModeExec); err != nil {
					return fmt.Errorf("migration %d: %w", n, err)
				}
			}
			if _, err := tx.Exec(ctx, s.sql(`INSERT INTO SCHEMA.schema VALUES ($1)`), pgx.QueryExecModeExec, int64(n)); err != nil {
				return err
			}
		}
		return nil
	})
}

// splitStatements returns the statements of a migration. A semicolon and an empty line end
// each.
func splitStatements(text string) []string {
	var all []string
	for part := range strings.SplitSeq(text, ";\n\n") {
		if strings.TrimSpace(part) != "" {
			all = append(all, part)
		}
	}
	return all
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// migration returns the number of the last migration that the tables have, or 0.
func (s *Store) migration(ctx context.Context, db querier) (int, error) {
	var at int
	err := db.QueryRow(ctx, s.sql(`SELECT coalesce(max(version), 0)::int FROM SCHEMA.schema`), pgx.QueryExecModeExec).Scan(&at)
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok && (answer.Code == "42P01" || answer.Code == "3F000") { // no such table or schema
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if at > lastMigration {
		return 0, fmt.Errorf("%w: it is at %d, and this release knows %d: use a later release", ErrSchema, at, lastMigration)
	}
	return at, nil
}
