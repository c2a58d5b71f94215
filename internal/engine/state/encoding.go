package state

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// recordFormat is the number of the form in which records are stored. A stored record
// begins with it, so that the value of a host is not taken for a record.
const recordFormat = 2

// storedRecord is a record as a store keeps it. Its key and version are those of the value.
type storedRecord struct {
	Format int `json:"record"`
	*Record
}

// encode returns the stored form of a record.
func encode(rec *Record) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(2 << 10) // most records are shorter
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(storedRecord{recordFormat, rec}); err != nil {
		return nil, fmt.Errorf("encode record of agent %q: %w", rec.Key.Agent, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// decode reads what encode wrote. Everything else is an error that wraps
// [session.ErrDamaged].
func decode(key core.SessionKey, v session.Value) (*Record, error) {
	stored := storedRecord{Record: &Record{}}
	if err := json.Unmarshal(v.Data, &stored); err != nil {
		return nil, fmt.Errorf("%w: %w", session.ErrDamaged, err)
	}
	if stored.Format != recordFormat {
		return nil, fmt.Errorf("%w: it is no record of format %d", session.ErrDamaged, recordFormat)
	}
	rec := stored.Record
	rec.Key, rec.Version = key, v.Version
	return rec, nil
}
