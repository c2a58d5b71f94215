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

// attempt calls do up to three times, two seconds each, while it fails because of the
// connection to the server. After a restart of the server the pool may hold only dead
// connections. Failures of these do not count as attempts. If a write may have happened, the
// error wraps session.ErrUncertain.
func attempt[T any](ctx context.Context, db *pgxpool.Pool, writes bool, do func(context.Context) (T, error)) (answer T, err error) {
	sent := false
	for try, pooled := 1, db.Stat().TotalConns(); ; {
		limited, cancel := context.WithTimeout(ctx, attemptTime)
		answer, err = do(limited)
		cancel()
		if err == nil || errors.Is(err, pgx.ErrNoRows) {
			return answer, err
		}
		canRetry, mayHaveRun := classify(err)
		sent = sent || mayHaveRun
		if !canRetry {
			break
		}
		if ctx.Err() != nil {
			err = ctx.Err()
			break
		}
		if pooled > 0 && isConnectionLost(err) {
			pooled--
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

// isConnectionLost reports whether a connection of the pool has ended, so that another one may
// work.
func isConnectionLost(err error) bool {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return answer.Code == "57P01" || answer.Code == "57P02" // the server ended it
	}
	var way *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &way) && way.Op != "dial" && !way.Timeout()
}

// classify reports whether another attempt may succeed, and whether the statement may have been
// executed.
func classify(err error) (canRetry, mayHaveRun bool) {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) {
		return true, !pgconn.SafeToRetry(err)
	}
	switch {
	case strings.HasPrefix(answer.Code, "08"), answer.Code == "57P01", answer.Code == "57P02", answer.Code == "57014":
		return true, true // the connection or the server ended during the statement
	case answer.Code == "57P03", answer.Code == "40001", answer.Code == "40P01", answer.Code == "53300", answer.Code == "25006":
		return true, false // the server is starting, rolled back, has no connection left, or is read-only
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

// exec executes a statement that may run twice, and returns how many rows it changed. It
// prepares nothing, because a pooler gives the connection to another client after each
// statement.
func (s *Store) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	return attempt(ctx, s.db, false, func(ctx context.Context) (int64, error) {
		tag, err := s.db.Exec(ctx, s.sql(statement), append([]any{pgx.QueryExecModeExec}, args...)...)
		return tag.RowsAffected(), err
	})
}

// queryRow reads the only row of a query into the destinations in scan. The error wraps
// pgx.ErrNoRows if there is none.
func (s *Store) queryRow(ctx context.Context, writes bool, statement string, args []any, scan ...any) error {
	_, err := attempt(ctx, s.db, writes, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.db.QueryRow(ctx, s.sql(statement), append([]any{pgx.QueryExecModeExec}, args...)...).Scan(scan...)
	})
	return err
}
