package plainjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/text/plainjson"
)

func encoded(t *testing.T, text string) int {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		t.Fatal(err)
	}
	if line, err := plainjson.Encode(text); line+"\n" != b.String() || err != nil {
		t.Errorf("Encode(%q) = %s, %v, want %s", text, line, err, b.String())
	}
	return b.Len() - len("\"\"\n")
}

// What is counted is what encoding/json writes.
func FuzzSize(f *testing.F) {
	for _, text := range []string{"", "plain", "<&>", "\x00\x01\x7f", "\"\\\n\r\t\b\f", "é€😀", "\u2028\u2029\uFFFD", "\xff\xc3", "a\xe2\x80"} {
		f.Add(text, 5)
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		if got, want := plainjson.Size(text), encoded(t, text); got != want {
			t.Errorf("Size(%q) = %d, want %d", text, got, want)
		}
		n = min(max(n, 0), 1<<20)
		head, tail := plainjson.Prefix(text, n), plainjson.Suffix(text, n)
		if !strings.HasPrefix(text, head) || plainjson.Size(head) > n || len(head) < len(text) && plainjson.Size(head) < n-5 {
			t.Errorf("Prefix(%q, %d) = %q", text, n, head)
		}
		if !strings.HasSuffix(text, tail) || plainjson.Size(tail) > n || len(tail) < len(text) && plainjson.Size(tail) < n-5 {
			t.Errorf("Suffix(%q, %d) = %q", text, n, tail)
		}
	})
}

// Count, Members and Elements agree with encoding/json, and Elements stops at its bound.
func FuzzParts(f *testing.F) {
	for _, text := range []string{"{}", "[]", " [ ] ", `{"a":1}`, `{"a,\"}":[1,2,{"b":3}],"c":"]"}`, `[[],{},"\\",1]`, "[1,2,3", "1", `{"a":1,"a":2}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil && list != nil {
			if n := plainjson.Count(raw); n != len(list) {
				t.Errorf("%q has %d elements, want %d", raw, n, len(list))
			}
			got, err := plainjson.Elements(raw, len(list))
			if err != nil || len(got) != len(list) {
				t.Errorf("%q: %d elements, %v", raw, len(got), err)
			}
			if _, err := plainjson.Elements(raw, len(list)-1); len(list) > 0 && !errors.Is(err, plainjson.ErrSize) {
				t.Errorf("%q: %v", raw, err)
			}
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) == nil && object != nil {
			names, n := make(map[string]bool), 0
			err := plainjson.Members(raw, func(name string, value json.RawMessage) error {
				names[name] = true
				n++
				if !json.Valid(value) {
					t.Errorf("%q: %s is %q", raw, name, value)
				}
				return nil
			})
			if err != nil || len(names) != len(object) || plainjson.Count(raw) != n {
				t.Errorf("%q: %d members, %d counted, %v", raw, n, plainjson.Count(raw), err)
			}
		}
	})
}

func TestSizeOf(t *testing.T) {
	const limit = 1 << 20
	for _, v := range []any{nil, 1, "a\x00b", []string{"a", "b"}, map[string]any{"a": []any{1, "x"}, "b": nil}, json.RawMessage(`{"a":1}`), []byte("abcdef"),
		struct {
			A string `json:"a"`
			B *int   `json:"b,omitempty"`
			C []byte `json:"-"`
			d string
		}{"x", nil, []byte("hidden"), "hidden"}} {
		text, err := plainjson.Encode(v)
		if n := plainjson.SizeOf(v, limit); err != nil || n < 1 || n > len(text)+1 {
			t.Errorf("%s has %d bytes, counted %d, %v", text, len(text), n, err)
		}
	}
	many := make([]string, 1<<20)
	if n := plainjson.SizeOf(many, 1000); n <= 1000 || n > 1010 {
		t.Errorf("counted %d of many", n)
	}
}
