package state

import (
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/lru"
	"github.com/satchel-go/satchel/session"
)

// Encode returns the stored form of a record.
func Encode(rec *Record) ([]byte, error) { return encode(rec) }

// Decode reads what Encode wrote.
func Decode(key core.SessionKey, version int64, data []byte) (*Record, error) {
	return decode(key, session.Value{Version: version, Data: data})
}

// WithTexts returns r with room for so many bytes of texts.
func (r *Records) WithTexts(limit int) *Records {
	r.texts = lru.New[string, string](limit, nil)
	return r
}
