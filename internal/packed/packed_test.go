package packed

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
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
		if n := len(Pack([]byte(Records), Records)); n > len(Records)/10 {
			t.Errorf("the dictionary itself is packed as %d bytes", n)
		}
	}
}

// Short data comes back whatever it repeats and from how far, and whatever bytes it has.
func TestShort(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 20_000)
	for i := range noise {
		noise[i] = byte(' ' + random.IntN(95))
	}
	inputs := [][]byte{noise, slices.Concat(noise, noise[:9000]), []byte("{")}
	for n := 3; n < 600; n++ { // each length of a repetition
		inputs = append(inputs, slices.Concat(noise[:n], []byte("\n"), noise[:n], []byte(Records[:min(n, len(Records))])))
	}
	for n := 1; n < len(noise); n += 1 + n/8 { // each class of distances
		inputs = append(inputs, slices.Concat([]byte("repeated"), noise[:n], []byte("repeated")))
	}
	for _, want := range inputs {
		for _, packed := range [][]byte{packShort(want), Pack(want, Records)} {
			if got, err := Unpack(packed, Records, len(want)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %.20q..., came back as %d, %v", len(want), want, len(got), err)
			}
		}
	}
	for _, want := range [][]byte{every, []byte(strings.Repeat("ä", 3000))} {
		if short := packShort(want); short != nil {
			t.Errorf("%.20q is packed with a code that it does not have", want)
		}
		if got, err := Unpack(Pack(want, Records), Records, len(want)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%.20q came back as %d bytes, %v", want, len(got), err)
		}
	}
	for name, data := range map[string][]byte{"noise": noise[:1000], "text": []byte(strings.Repeat("ä", 3000))} {
		if short, other := len(Pack(data, Records)), len(Pack(data, None)); short > other+100 {
			t.Errorf("%s is packed as %d bytes, without the dictionary as %d", name, short, other)
		}
	}
}

func FuzzPack(f *testing.F) {
	f.Add([]byte(Records[100:600] + Records[:50]))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, err := Unpack(Pack(data, Records), Records, len(data)); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%q came back as %q, %v", data, got, err)
		}
	})
}

func BenchmarkPack(b *testing.B) {
	data := []byte(Records)
	slices.Reverse(data[:len(data)/4]) // as much that is new as in a record
	b.ReportAllocs()
	for b.Loop() {
		Pack(data, Records)
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
