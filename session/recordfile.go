package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// maxFile bounds what is written to and read from one file.
const maxFile = 16 << 20

// ErrTooLarge reports a record or a pinned text beyond what the directory
// store takes, 16 MiB each.
var ErrTooLarge = errors.New("larger than 16 MiB")

// recordFormat is the first field of every record file.
const recordFormat = "satchel session record 1"

// recordHeader is the first line of a record file; the second is the Record as
// JSON, the third the hex SHA-256 of the first two, line breaks included. With
// that sum a file is either complete or seen to be damaged.
type recordHeader struct {
	Format string `json:"format"`
	// Session and Agent are the exact bytes of the key, which JSON strings
	// could not hold: any string can be an id.
	Session []byte `json:"session"`
	Agent   []byte `json:"agent"`
}

// encodeRecord returns the content of a record file.
func encodeRecord(rec *Record) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	header := recordHeader{recordFormat, []byte(rec.Key.Session), []byte(rec.Key.Agent)}
	if err := errors.Join(enc.Encode(header), enc.Encode(rec)); err != nil {
		return nil, fmt.Errorf("encode session record: %w", err)
	}
	sum := sha256.Sum256(b.Bytes())
	b.WriteString(hex.EncodeToString(sum[:]))
	b.WriteByte('\n')
	if b.Len() > maxFile {
		return nil, fmt.Errorf("encode session record of %d bytes: %w", b.Len(), ErrTooLarge)
	}
	return b.Bytes(), nil
}

var errIncomplete = errors.New("content is incomplete or was changed")

// decodeRecord reads what encodeRecord wrote, and nothing else.
func decodeRecord(data []byte) (*Record, error) {
	const sumLine = sha256.Size*2 + 1
	if len(data) < sumLine {
		return nil, errIncomplete
	}
	lines, last := data[:len(data)-sumLine], data[len(data)-sumLine:]
	sum := sha256.Sum256(lines)
	if string(last) != hex.EncodeToString(sum[:])+"\n" {
		return nil, errIncomplete
	}
	first, second, _ := bytes.Cut(lines, []byte("\n"))
	var header recordHeader
	if err := json.Unmarshal(first, &header); err != nil {
		return nil, fmt.Errorf("decode header: %w", err)
	}
	if header.Format != recordFormat {
		return nil, fmt.Errorf("unknown format %q", header.Format)
	}
	var rec Record
	if err := json.Unmarshal(second, &rec); err != nil {
		return nil, fmt.Errorf("decode record: %w", err)
	}
	rec.Key.Session, rec.Key.Agent = string(header.Session), string(header.Agent)
	return &rec, nil
}
