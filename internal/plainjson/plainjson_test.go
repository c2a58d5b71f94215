package plainjson_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/plainjson"
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
