package state

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
)

func TestRecordFile(t *testing.T) {
	rec := &Record{Version: 7, Key: core.SessionKey{Session: "\xff<s>", Agent: "a\n"}, Turn: 2, Token: "<&>"}
	data, err := Encode(rec)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if err != nil || !reflect.DeepEqual(got, rec) {
		t.Fatalf("got %+v, %v", got, err)
	}
	t.Run("every truncation is seen", func(t *testing.T) {
		for n := range data {
			if _, err := Decode(data[:n]); err == nil {
				t.Errorf("the first %d of %d bytes are taken for a record", n, len(data))
			}
		}
	})
	t.Run("every changed byte is seen", func(t *testing.T) {
		for i := range data {
			bad := bytes.Clone(data)
			bad[i] ^= 1
			if _, err := Decode(bad); err == nil {
				t.Errorf("a change of byte %d goes unseen", i)
			}
		}
	})
	t.Run("zeros", func(t *testing.T) {
		if _, err := Decode(make([]byte, len(data))); err == nil {
			t.Error("a file of zeros is taken for a record")
		}
	})
	t.Run("too large", func(t *testing.T) {
		big := &Record{Overview: strings.Repeat("x", maxFile)}
		if _, err := Encode(big); !errors.Is(err, ErrTooLarge) {
			t.Errorf("got %v", err)
		}
	})
}

func FuzzDecodeRecord(f *testing.F) {
	data, err := Encode(&Record{Version: 1, Key: core.SessionKey{Session: "s"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("{}\n{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := Decode(data)
		if err != nil {
			return
		}
		again, err := Encode(rec)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(again)
		if err != nil || back.Version != rec.Version || back.Key != rec.Key {
			t.Fatalf("got %+v, %v, want %+v", back, err, rec)
		}
	})
}
