package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// maxFile is the size in bytes of the largest file that is written or read.
const maxFile = 16 << 20

// ErrTooLarge reports a record or a pinned text that is larger than its store
// accepts. The directory store takes 16 MiB of each.
var ErrTooLarge = errors.New("larger than the store accepts")

// recordFormat is the first field of every record.
const recordFormat = "satchel session record 1"

// recordHeader is the first line of an encoded record. The second line is the Record as
// JSON, and the third is the hex SHA-256 of the first two including their line
// breaks. The sum tells a complete file from a damaged one.
type recordHeader struct {
	Format string `json:"format"`
	// Session and Agent are the exact bytes of the key, which JSON strings
	// could not hold: any string can be an id.
	Session []byte `json:"session"`
	Agent   []byte `json:"agent"`
}

// Encode returns a record in the form that every store keeps: a line that names the
// format and the exact key, the record as a line of JSON, and the hex SHA-256 of both
// lines. It is at most 16 MiB, or the error wraps [ErrTooLarge]. Strings that are not
// valid UTF-8 are written with U+FFFD in place of the wrong bytes, except the Key,
// which is exact.
func Encode(rec *Record) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(2 << 10) // most records are shorter
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	header := recordHeader{recordFormat, []byte(rec.Key.Session), []byte(rec.Key.Agent)}
	if err := errors.Join(enc.Encode(header), enc.Encode(rec)); err != nil {
		return nil, fmt.Errorf("encode session record: %w", err)
	}
	sum := sha256.Sum256(b.Bytes())
	b.Write(append(hex.AppendEncode(b.AvailableBuffer(), sum[:]), '\n'))
	if b.Len() > maxFile {
		return nil, fmt.Errorf("encode session record of %d bytes: %w", b.Len(), ErrTooLarge)
	}
	return b.Bytes(), nil
}

// Next returns the record that a Save of rec stores, which is one version on, and its
// encoded form. It is what Load will return: in strings that are not valid UTF-8, U+FFFD
// stands in place of the wrong bytes, except in the Key. A form of more than limit bytes
// is an error that wraps [ErrTooLarge].
func Next(rec *Record, limit int) (*Record, []byte, error) {
	if rec.Version == math.MaxInt64 {
		return nil, nil, errors.New("no version left")
	}
	next := rec.Clone()
	next.Version++
	data, err := Encode(next)
	if err != nil {
		return nil, nil, err
	}
	if len(data) > limit {
		return nil, nil, fmt.Errorf("%d bytes, at most %d are stored: %w", len(data), limit, ErrTooLarge)
	}
	if bytes.Contains(data, []byte(`\ufffd`)) { // perhaps a wrong byte
		if next, err = Decode(data); err != nil {
			return nil, nil, err
		}
	}
	return next, data, nil
}

var errIncomplete = errors.New("content is incomplete or was changed")

// Decode reads what [Encode] wrote, and refuses everything else: a record that was cut
// or changed, and a format that this release does not know.
func Decode(data []byte) (*Record, error) {
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
