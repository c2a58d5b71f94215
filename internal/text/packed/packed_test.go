package packed

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"testing"
)

// deflate is that of the standard library: those of the stores are tested with them.
func deflate(out io.Writer, in []byte, _ bool, dict []byte) error {
	w, err := flate.NewWriterDict(out, flate.BestCompression, dict)
	if err != nil {
		return err
	}
	_, err = w.Write(in)
	return errors.Join(err, w.Close())
}

func TestPack(t *testing.T) {
	for _, words := range []Dictionary{None, Records} {
		for _, want := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte("text "), 10_000), []byte(Records)} {
			packed := Pack(want, words, deflate)
			got, err := Unpack(packed, words, len(want))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes came back as %d, %v", len(want), len(got), err)
			}
			if len(want) > 0 {
				if _, err := Unpack(packed, words, len(want)-1); err == nil {
					t.Errorf("more than %d bytes are taken", len(want)-1)
				}
			}
			if _, err := Unpack(packed[:len(packed)-1], words, 1<<20); err == nil {
				t.Errorf("%d bytes that were cut are taken", len(want))
			}
		}
	}
	if n := len(Pack(bytes.Repeat([]byte("text "), 10_000), None, deflate)); n > 1000 {
		t.Errorf("50,000 bytes are packed as %d", n)
	}
}

func FuzzPack(f *testing.F) {
	f.Add([]byte(Records[100:600] + Records[:50]))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, err := Unpack(Pack(data, Records, deflate), Records, len(data)); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%q came back as %q, %v", data, got, err)
		}
	})
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte("\x00"))
	f.Add(Pack([]byte("text"), Records, deflate))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := Unpack(data, Records, 1000)
		if err != nil {
			return
		}
		if again, err := Unpack(Pack(out, Records, deflate), Records, 1000); err != nil || !bytes.Equal(again, out) {
			t.Errorf("%q came back as %q, %v", out, again, err)
		}
	})
}

// What was changed, cut or sealed for another place is refused.
func TestOpen(t *testing.T) {
	data := []byte(`{"record":2,"turn":1}`)
	sealed := Seal(data, Records, deflate, "session", "agent", "7")
	if got, err := Open(sealed, Records, len(data), "session", "agent", "7"); err != nil || !bytes.Equal(got, data) {
		t.Errorf("got %q, %v", got, err)
	}
	for _, place := range [][]string{nil, {"session", "agent"}, {"session", "agent", "8"}, {"sessionagent", "", "7"}, {"agent", "session", "7"}} {
		if got, err := Open(sealed, Records, len(data), place...); err == nil {
			t.Errorf("at %q: got %q", place, got)
		}
	}
	for i := range sealed {
		bad := bytes.Clone(sealed)
		bad[i] ^= 1
		if got, err := Open(bad, Records, 1<<20, "session", "agent", "7"); err == nil && !bytes.Equal(got, data) {
			t.Errorf("a change of byte %d goes unseen: %q", i, got)
		}
		if got, err := Open(sealed[:i], Records, 1<<20, "session", "agent", "7"); err == nil {
			t.Errorf("%d bytes are taken for %q", i, got)
		}
	}
}
