package process

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCaptureKeepsNothingMoreThanAsked(t *testing.T) {
	c := newCapture(1000)
	for range 10_000 {
		_, _ = c.Write(bytes.Repeat([]byte("x"), 977))
	}
	if size := cap(c.head) + cap(c.tail); size > 3000 {
		t.Errorf("the buffers hold %d bytes", size)
	}
}

// FuzzCapture compares the capture with one that keeps everything.
func FuzzCapture(f *testing.F) {
	f.Add([]byte("first\nlast\n"), 4, 3)
	f.Add([]byte(strings.Repeat("世", 50)), 10, 7)
	f.Add([]byte("世世"), 2, 1)
	f.Add([]byte("\xff\xfe\xe4\xb8"), 1, 1)
	f.Add([]byte(""), 0, 1)
	f.Fuzz(func(t *testing.T, text []byte, keep, step int) {
		if keep < 0 || keep > 1<<16 || step < 1 {
			return
		}
		c := newCapture(int64(keep))
		for rest := text; len(rest) > 0; rest = rest[min(step, len(rest)):] {
			_, _ = c.Write(rest[:min(step, len(rest))])
		}
		s := c.stream()
		kept := len(s.Head) + len(s.Tail)
		switch {
		case int64(kept)+s.Dropped != int64(len(text)):
			t.Fatalf("kept %d and dropped %d of %d", kept, s.Dropped, len(text))
		case kept > keep, !bytes.HasPrefix(text, s.Head), !bytes.HasSuffix(text, s.Tail):
			t.Fatalf("head %q, tail %q of %q, limit %d", s.Head, s.Tail, text, keep)
		case len(text) <= keep && s.Dropped > 0:
			t.Fatalf("dropped %d without need", s.Dropped)
		case utf8.Valid(text) && !(utf8.Valid(s.Head) && utf8.Valid(s.Tail)):
			t.Fatalf("a character is cut: %q, %q", s.Head, s.Tail)
		case s.Dropped > 0 && kept < keep-2*(utf8.UTFMax-1):
			t.Fatalf("kept %d of %d", kept, keep)
		case !utf8.ValidString(s.String()):
			t.Fatalf("the text is no text: %q", s.String())
		}
	})
}
