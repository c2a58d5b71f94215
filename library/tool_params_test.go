package library

import (
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	values := map[string]json.RawMessage{"p": json.RawMessage(`"{{p}}"`), "n": json.RawMessage(`7`)}
	for text, want := range map[string]string{
		"a {{p}} {{ n }} {{x}} {{{n}}}": "a {{p}} 7 {{x}} {7}",
		"{{p":                           "{{p", "}} {{": "}} {{", "{{\np}}": "{{\np}}", "{{p}}{{n}}": "{{p}}7",
		"{{" + strings.Repeat("x", 2*maxName) + "{{n}}": "{{" + strings.Repeat("x", 2*maxName) + "7",
	} {
		if got, err := render(text, values); got != want || err != nil {
			t.Errorf("%q is %q, %v, want %q", text, got, err, want)
		}
	}
}

// TestLargeRender checks that render fails if the text would be too large, and takes linear time for
// braces without a name.
func TestLargeRender(t *testing.T) {
	value, err := json.Marshal(strings.Repeat("x", 20_000))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]json.RawMessage{"p": value}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := render(strings.Repeat("{{p}}", 50_000), values)
	braces, bracesErr := render(strings.Repeat("{", 900_000)+"}}", values)
	runtime.ReadMemStats(&after)
	var own *Error
	if !errors.As(err, &own) || own.code != "too_large" || got != "" {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if len(braces) != 900_002 || bracesErr != nil {
		t.Errorf("braces: %d bytes, %v", len(braces), bracesErr)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
		t.Errorf("%d MiB were allocated", n>>20)
	}
	if just, err := render(strings.Repeat("{{p}}", 52), values); len(just) != 52*20_000 || err != nil {
		t.Errorf("within the bound: %d bytes, %v", len(just), err)
	}
}

func FuzzRender(f *testing.F) {
	f.Add("a {{p}} {{ p }} {{{p}}", "x")
	f.Add(strings.Repeat("{{p}}", 100), "{{p}}")
	f.Fuzz(func(t *testing.T, text, value string) {
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		got, err := render(text, map[string]json.RawMessage{"p": raw})
		if len(got) > max(maxRendered, len(text)) || err != nil && got != "" {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if !strings.Contains(text, "{{") && got != text {
			t.Errorf("%q is %q", text, got)
		}
	})
}
