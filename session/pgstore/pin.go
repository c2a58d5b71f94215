package pgstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/flate"

	"github.com/satchel-go/satchel/internal/text/packed"
	"github.com/satchel-go/satchel/session"
)

// decodeDigest returns the bytes of a digest, or false if it is none.
func decodeDigest(digest string) ([]byte, bool) {
	raw, err := hex.DecodeString(digest)
	if err != nil || len(raw) != sha256.Size || hex.EncodeToString(raw) != digest {
		return nil, false
	}
	return raw, true
}

// pinKnown pins a text that is stored already, without sending it; pinNew also stores the text.
// Both renew the day of the text in the same step, because a sweep removes a text without pins
// whose day has passed.
const (
	pinKnown = `WITH renewed AS (
			UPDATE SCHEMA.text SET day = coalesce($4::timestamptz, 'infinity')
			WHERE digest = $2 AND day < coalesce($4::timestamptz, 'infinity') RETURNING 1
		)
		INSERT INTO SCHEMA.pin (session, digest, day)
		SELECT $1, $2, coalesce($3::timestamptz, 'infinity') WHERE EXISTS (SELECT FROM renewed)
			OR EXISTS (SELECT FROM SCHEMA.text WHERE digest = $2 AND day >= coalesce($4::timestamptz, 'infinity'))
		ON CONFLICT (session, digest) DO UPDATE SET day = excluded.day`

	pinNew = `WITH kept AS (
			INSERT INTO SCHEMA.text (digest, body, day) VALUES ($2, $5, coalesce($4::timestamptz, 'infinity'))
			ON CONFLICT (digest) DO UPDATE SET body = excluded.body, day = greatest(text.day, excluded.day)
		)
		INSERT INTO SCHEMA.pin (session, digest, day) VALUES ($1, $2, coalesce($3::timestamptz, 'infinity'))
		ON CONFLICT (session, digest) DO UPDATE SET day = excluded.day`
)

// Pin implements session.Store. A text of more than 16 MiB fails with session.ErrTooLarge. All
// sessions share one copy of a text.
func (s *Store) Pin(ctx context.Context, id, digest, text string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if digest != session.Digest(text) {
		return fmt.Errorf("pin %q: digest is not the hex SHA-256 of the text", digest)
	}
	if len(text) > maxText {
		return fmt.Errorf("pin %q of %d bytes, at most %d are stored: %w", digest, len(text), maxText, session.ErrTooLarge)
	}
	raw, _ := decodeDigest(digest)
	args := []any{hashID(id), raw, s.expiry(id, 1), s.expiry(id, 2)}
	n, err := s.exec(ctx, pinKnown, args...)
	if err == nil && n == 0 {
		_, err = s.exec(ctx, pinNew, append(args, packed.Pack([]byte(text), packed.None, flate.StatelessDeflate))...)
	}
	if err != nil {
		return fmt.Errorf("pin %q: %w", digest, err)
	}
	return nil
}

// Pinned implements session.Store. If the text is damaged, the error wraps
// session.ErrNotPinned; another Pin repairs it.
func (s *Store) Pinned(ctx context.Context, id, digest string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	raw, ok := decodeDigest(digest)
	if !ok {
		return "", notPinnedError(digest)
	}
	var body []byte
	err := s.queryRow(ctx, false, `SELECT text.body FROM SCHEMA.pin JOIN SCHEMA.text USING (digest) WHERE pin.session = $1 AND pin.digest = $2`,
		[]any{hashID(id), raw}, &body)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", notPinnedError(digest)
	}
	if err != nil {
		return "", fmt.Errorf("read pin %q: %w", digest, err)
	}
	data, err := packed.Unpack(body, packed.None, maxText)
	if err != nil || session.Digest(string(data)) != digest {
		// Without this, Pin would not store the text again.
		_, _ = s.exec(ctx, `DELETE FROM SCHEMA.text WHERE digest = $1 AND body = $2`, raw, body)
		return "", fmt.Errorf("%w: %w", notPinnedError(digest), session.ErrDamaged)
	}
	return string(data), nil
}

func notPinnedError(digest string) error {
	return fmt.Errorf("read pin %.80q: %w", digest, session.ErrNotPinned)
}

// Unpin implements session.Store. A sweep removes texts that no session pins any more.
func (s *Store) Unpin(ctx context.Context, id string, keep []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	keptDigests := [][]byte{}
	for _, digest := range keep {
		if raw, ok := decodeDigest(digest); ok {
			keptDigests = append(keptDigests, raw)
		}
	}
	_, err := s.exec(ctx, `DELETE FROM SCHEMA.pin WHERE session = $1 AND NOT digest = ANY($2::bytea[])`, hashID(id), keptDigests)
	if err != nil {
		return fmt.Errorf("unpin content of session %q: %w", id, err)
	}
	return nil
}
