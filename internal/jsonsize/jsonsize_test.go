package jsonsize_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/jsonsize"
)

func encoded(t *testing.T, text string) int {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		t.Fatal(err)
	}
	return b.Len() - len("\"\"\n")
}

// What is counted is what encoding/json writes.
func FuzzOf(f *testing.F) {
	for _, text := range []string{"", "plain", "<&>", "\x00\x01\x7f", "\"\\\n\r\t\b\f", "é€😀", "\u2028\u2029\uFFFD", "\xff\xc3", "a\xe2\x80"} {
		f.Add(text, 5)
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		if got, want := jsonsize.Of(text), encoded(t, text); got != want {
			t.Errorf("Of(%q) = %d, want %d", text, got, want)
		}
		n = min(max(n, 0), 1<<20)
		head, tail := jsonsize.Prefix(text, n), jsonsize.Suffix(text, n)
		if !strings.HasPrefix(text, head) || jsonsize.Of(head) > n || len(head) < len(text) && jsonsize.Of(head) < n-5 {
			t.Errorf("Prefix(%q, %d) = %q", text, n, head)
		}
		if !strings.HasSuffix(text, tail) || jsonsize.Of(tail) > n || len(tail) < len(text) && jsonsize.Of(tail) < n-5 {
			t.Errorf("Suffix(%q, %d) = %q", text, n, tail)
		}
	})
}
