package sqlstore

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/library"
)

//go:embed migrations
var migrations embed.FS

// migration is one step from a version of the schema to the next. Published steps never change.
type migration struct {
	number int
	text   string
}

func (s *Store) migrations() ([]migration, error) {
	dir := "migrations/" + s.dialect.Name
	entries, err := fs.ReadDir(migrations, dir)
	if err != nil {
		return nil, err
	}
	var steps []migration
	for _, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "_")
		n, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("library: migration %s has no number", e.Name())
		}
		text, err := migrations.ReadFile(path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		steps = append(steps, migration{n, string(text)})
	}
	slices.SortFunc(steps, func(a, b migration) int { return a.number - b.number })
	return steps, nil
}

const versionTable = `CREATE TABLE IF NOT EXISTS library_schema (one INTEGER PRIMARY KEY, version INTEGER NOT NULL)`

// Migrate updates the schema to this version. Several processes may call it at the same time. If
// the schema is newer, Migrate returns library.ErrSchema and writes nothing.
func (s *Store) Migrate(ctx context.Context) error {
	steps, err := s.migrations()
	if err != nil {
		return err
	}
	began, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return fault(ctx, err)
	}
	defer func() { _ = began.Rollback() }() // changes nothing after Commit
	t := &tx{began, ctx, s}
	if lock := s.dialect.MigrationLock; lock != "" {
		if err := t.exec(lock); err != nil {
			return fault(ctx, err)
		}
	}
	if err := t.exec(versionTable); err != nil {
		return fault(ctx, err)
	}
	have := 0
	if err := t.QueryRowContext(ctx, `SELECT COALESCE(MAX(version), 0) FROM library_schema`).Scan(&have); err != nil {
		return fault(ctx, err)
	}
	want := steps[len(steps)-1].number
	if have > want {
		return newer(have, want)
	}
	for _, step := range steps {
		if step.number <= have {
			continue
		}
		for _, statement := range strings.Split(step.text, "\n;;\n") {
			if strings.TrimSpace(statement) == "" {
				continue
			}
			if _, err := t.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("library: migration %d: %w", step.number, err)
			}
		}
	}
	if have < want {
		if err := t.exec(`INSERT INTO library_schema (one, version) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET version = excluded.version`, want); err != nil {
			return fault(ctx, err)
		}
	}
	return fault(ctx, began.Commit())
}

// Check returns an error that wraps library.ErrSchema if the schema is not that of this version. The
// text of the error says what to do.
func (s *Store) Check(ctx context.Context) error {
	steps, err := s.migrations()
	if err != nil {
		return err
	}
	have, want := 0, steps[len(steps)-1].number
	if err := s.read.QueryRowContext(ctx, `SELECT version FROM library_schema`).Scan(&have); err != nil { // there is no schema yet
		if ping := s.read.PingContext(ctx); ping != nil { // or no answer
			return fault(ctx, ping)
		}
	}
	switch {
	case have > want:
		return newer(have, want)
	case have < want:
		return &schemaError{fmt.Sprintf("library: schema is at %d, this version needs %d: run \"satchel library migrate\"", have, want)}
	}
	return nil
}

func newer(have, want int) error {
	return &schemaError{fmt.Sprintf("library: schema is at %d, this version knows %d: use a newer version of satchel", have, want)}
}

type schemaError struct{ text string }

func (e *schemaError) Error() string { return e.text }
func (e *schemaError) Unwrap() error { return library.ErrSchema }
