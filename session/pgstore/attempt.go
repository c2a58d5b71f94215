package pgstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/session"
)

// attempt runs do up to three times for two seconds each, while its errors are
// those of the way to the server. After a restart the pool may hold only connections to
// the server of before: those that turn out to be lost do not count. A write that may
// have happened is session.ErrUncertain then.
func attempt[T any](ctx context.Context, db *pgxpool.Pool, writes bool, do func(context.Context) (T, error)) (answer T, err error) {
	sent := false
	for try, held := 1, db.Stat().TotalConns(); ; {
		limited, cancel := context.WithTimeout(ctx, attemptTime)
		answer, err = do(limited)
		cancel()
		if err == nil || errors.Is(err, pgx.ErrNoRows) {
			return answer, err
		}
		passing, happened := judge(err)
		sent = sent || happened
		if !passing {
			break
		}
		if ctx.Err() != nil {
			err = ctx.Err()
			break
		}
		if held > 0 && lost(err) {
			held--
			continue
		}
		if try == attempts {
			break
		}
		if waitErr := pause(ctx, time.Duration(try*try)*firstPause); waitErr != nil {
			err = waitErr
			break
		}
		try++
	}
	if sent && writes {
		err = fmt.Errorf("%w: %w", session.ErrUncertain, err)
	}
	return answer, err
}

// lost reports whether a connection of the pool has ended, so that another one may work.
func lost(err error) bool {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return answer.Code == "57P01" || answer.Code == "57P02" // it was ended from the server
	}
	var way *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &way) && way.Op != "dial" && !way.Timeout()
}

// judge says whether another attempt may not meet the error, and whether the statement
// may have been executed.
func judge(err error) (passing, happened bool) {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) {
		return true, !pgconn.SafeToRetry(err)
	}
	switch {
	case strings.HasPrefix(answer.Code, "08"), answer.Code == "57P01", answer.Code == "57P02", answer.Code == "57014":
		return true, true // the connection, or the server, ended under the statement
	case answer.Code == "57P03", answer.Code == "40001", answer.Code == "40P01", answer.Code == "53300", answer.Code == "25006":
		return true, false // the server starts, it rolled back, is full or only reads
	}
	return false, false
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// exec executes a statement that may be executed twice, and returns how many rows it has
// changed. Poolers hand a connection to somebody else after each statement, so nothing is
// prepared.
func (s *Store) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	return attempt(ctx, s.db, false, func(ctx context.Context) (int64, error) {
		tag, err := s.db.Exec(ctx, s.sql(statement), append([]any{pgx.QueryExecModeExec}, args...)...)
		return tag.RowsAffected(), err
	})
}

// row reads the one row of a query into what scan points to; the error wraps
// pgx.ErrNoRows where there is none.
func (s *Store) row(ctx context.Context, writes bool, statement string, args []any, scan ...any) error {
	_, err := attempt(ctx, s.db, writes, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.db.QueryRow(ctx, s.sql(statement), append([]any{pgx.QueryExecModeExec}, args...)...).Scan(scan...)
	})
	return err
}
