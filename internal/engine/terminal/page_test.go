package terminal

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

func plainOutput(limit int) *output { return newOutput(limit, newCleaner(false, nil)) }

func read(t *testing.T, o *output, r Request) Page {
	t.Helper()
	p, err := o.next(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const onward = -1 // where the last page ended

func TestPages(t *testing.T) {
	o := plainOutput(1 << 20)
	o.Write([]byte("first\nsecond\n世界\n"))
	if p := read(t, o, Request{Offset: onward, Bytes: 8}); p.Text != "first\n" || p.Offset != 0 || p.Next != 6 || p.End != 20 {
		t.Errorf("a page ends with a line: %+v", p)
	}
	if p := read(t, o, Request{Offset: onward, Lines: 1}); p.Text != "second\n" || p.Offset != 6 {
		t.Errorf("one line: %+v", p)
	}
	if p := read(t, o, Request{Offset: onward, Bytes: 5}); p.Text != "世" {
		t.Errorf("a page ends with a character: %+v", p)
	}
	if p := read(t, o, Request{Offset: 0, Bytes: 6}); p.Text != "first\n" || p.Next != 6 {
		t.Errorf("read again: %+v", p)
	}
	if p := read(t, o, Request{Offset: onward}); p.Text != "界\n" || p.Next != 20 {
		t.Errorf("and on where it was: %+v", p)
	}
	if p := read(t, o, Request{Offset: 14}); p.Text != "界\n" || p.Offset != 16 {
		t.Errorf("an offset inside a character: %+v", p)
	}
	if p := read(t, o, Request{Offset: 1 << 40}); p.Text != "" || p.Offset != 20 || p.Next != 20 {
		t.Errorf("an offset after the end: %+v", p)
	}
	o.Write([]byte("skipped\nseen\n"))
	if p := read(t, o, Request{Offset: 28}); p.Text != "seen\n" {
		t.Errorf("skipped: %+v", p)
	}
	if p := read(t, o, Request{Offset: onward}); p.Text != "" {
		t.Errorf("what was skipped comes back: %+v", p)
	}
}

func TestPageTellsWhatIsLost(t *testing.T) {
	o := plainOutput(100)
	o.Write([]byte(strings.Repeat("0123456789", 20)))
	p := read(t, o, Request{Offset: onward})
	if p.Lost != 100 || p.Offset != 100 || p.Next != 200 || len(p.Text) != 100 {
		t.Errorf("page %+v", p)
	}
	if p = read(t, o, Request{Offset: onward}); p.Lost != 0 || p.Text != "" {
		t.Errorf("told twice: %+v", p)
	}
}

// The last page, and each further one, says how the command ended.
func TestEndComesLast(t *testing.T) {
	o := plainOutput(1 << 20)
	o.Write([]byte("a\nb\n"))
	o.end([]byte("final"))
	if p := read(t, o, Request{Offset: onward, Lines: 1, Wait: time.Hour}); p.IsLast || p.Final != nil {
		t.Errorf("page %+v", p)
	}
	for _, want := range []string{"b\n", ""} {
		if p := read(t, o, Request{Offset: onward, Wait: time.Hour}); !p.IsLast || string(p.Final) != "final" || p.Text != want {
			t.Errorf("page %+v", p)
		}
	}
}

func TestNextReturnsInTime(t *testing.T) { synctest.Test(t, returnsInTime) }

func returnsInTime(t *testing.T) {
	o := plainOutput(1 << 20)
	o.Write([]byte("working\n"))
	if p := read(t, o, Request{Offset: onward, Wait: 20 * time.Millisecond}); p.Text != "working\n" || p.Asks != nil {
		t.Errorf("after the wait: %+v", p)
	}
	time.AfterFunc(10*time.Millisecond, func() { o.Write([]byte("name: ")) })
	if p := read(t, o, Request{Offset: onward, Wait: time.Hour}); p.Text != "name: " || p.Asks == nil {
		t.Errorf("a question: %+v", p)
	}
	if p := read(t, o, Request{Offset: onward, Wait: time.Hour}); p.Text != "" || p.Asks == nil {
		t.Errorf("the question is still open, and told once: %+v", p)
	}
	o.answer()
	if p := read(t, o, Request{Offset: onward, Wait: 100 * time.Millisecond}); p.Asks != nil {
		t.Errorf("it was answered: %+v", p)
	}
	time.AfterFunc(10*time.Millisecond, func() { o.Write([]byte("one\ntwo\nthree\n")) })
	if p := read(t, o, Request{Offset: onward, Wait: time.Hour, Lines: 2}); p.Text != "one\ntwo\n" {
		t.Errorf("a full page: %+v", p)
	}
	o.answer()
	time.AfterFunc(20*time.Millisecond, func() { o.Write([]byte("four\nage: ")) })
	if p := read(t, o, Request{Offset: onward, Wait: 40 * time.Millisecond}); p.Text != "three\nfour\nage: " || p.Asks == nil {
		t.Errorf("a question at the last moment: %+v", p)
	}
	time.AfterFunc(20*time.Millisecond, func() {
		for range 30 {
			o.Write([]byte("again? "))
			time.Sleep(20 * time.Millisecond)
		}
	})
	if p := read(t, o, Request{Offset: onward, Wait: 40 * time.Millisecond}); len(p.Text) > 20*7 {
		t.Errorf("questions without end: %+v", p)
	}
	time.Sleep(600 * time.Millisecond)
	read(t, o, Request{Offset: onward})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	o.answer()
	o.Write([]byte("five\n"))
	if _, err := o.next(ctx, Request{Offset: onward, Wait: time.Hour}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if p := read(t, o, Request{Offset: onward}); p.Text != "five\n" {
		t.Errorf("what nobody got is there: %+v", p)
	}
}

// FuzzPages writes and reads as its second argument says. All pages together have the written
// text without secrets, and each begins where the last one ended.
func FuzzPages(f *testing.F) {
	f.Add([]byte("one\ntwo\r\nthree s3cr3t-value\n世界人\xff"), []byte{5, 130, 7, 200, 1, 129})
	f.Add([]byte(strings.Repeat("line\n", 50)), []byte{255, 3, 160})
	f.Add([]byte("\xab"), []byte{'0', 129}) // a character longer than the page
	f.Fuzz(func(t *testing.T, in, steps []byte) {
		want := cleaned(true, someSecrets, string(in))
		o := newOutput(1<<20, newCleaner(true, someSecrets))
		var got strings.Builder
		take := func(r Request) Page {
			p := read(t, o, r)
			if p.Offset != int64(got.Len()) || p.Next != p.Offset+int64(len(p.Text)) || p.End < p.Next || p.Lost != 0 {
				t.Fatalf("after %d bytes: %+v", got.Len(), p)
			}
			if !utf8.ValidString(p.Text) || r.Bytes > 0 && len(p.Text) > max(r.Bytes, utf8.UTFMax) || r.Lines > 0 && strings.Count(p.Text, "\n") > r.Lines {
				t.Fatalf("request %+v gives %+v", r, p)
			}
			got.WriteString(p.Text)
			return p
		}
		for _, s := range steps {
			n := int(s & 0x3f)
			switch s >> 6 {
			case 0, 1:
				n = min(n, len(in))
				o.Write(in[:n])
				in = in[n:]
			case 2:
				take(Request{Offset: onward, Bytes: n})
			case 3:
				take(Request{Offset: onward, Lines: n})
			}
		}
		o.Write(in)
		o.end(nil)
		for range len(want) + 1 {
			if take(Request{Offset: onward, Bytes: 7}).IsLast {
				break
			}
		}
		if got.String() != want {
			t.Errorf("got %q, want %q", got.String(), want)
		}
	})
}
