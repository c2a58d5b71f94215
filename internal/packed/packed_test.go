package packed

import (
	"bytes"
	"testing"
)

func TestPack(t *testing.T) {
	for _, words := range []Dictionary{None, Records} {
		for _, want := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte("text "), 10_000), []byte(Records)} {
			packed := Pack(want, words)
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
	if n := len(Pack(bytes.Repeat([]byte("text "), 10_000), None)); n > 1000 {
		t.Errorf("50,000 bytes are packed as %d", n)
	}
}

// Each writer of the pool knows the words, not only a new one.
func TestDictionary(t *testing.T) {
	for range 3 {
		if n := len(Pack([]byte(Records), Records)); n > len(Records)/20 {
			t.Errorf("the dictionary itself is packed as %d bytes", n)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte("\x00"))
	f.Add(Pack([]byte("text"), Records))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := Unpack(data, Records, 1000)
		if err != nil {
			return
		}
		if again, err := Unpack(Pack(out, Records), Records, 1000); err != nil || !bytes.Equal(again, out) {
			t.Errorf("%q came back as %q, %v", out, again, err)
		}
	})
}
