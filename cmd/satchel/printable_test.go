package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/satchel-go/satchel/satcheltest"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"one\ntwo\r\nthree\tfour\u2028five": "one two three four five",
		"red\x1b[31m \u202eback\x00":        "red\uFFFD[31m \uFFFDback\uFFFD",
		"نمی\u200cخواهم 👩\u200d💻":           "نمی\u200cخواهم 👩\u200d💻",
		"broken\xff":                        "broken\uFFFD",
	} {
		if got := printable(text); got != want {
			t.Errorf("printable(%q) = %q, want %q", text, got, want)
		}
	}
	if got := shortened("four words of text", 11); got != "four words…" {
		t.Errorf("shortened = %q", got)
	}
}

// What is JSON steers no terminal either, and means the same.
func TestJSONIsPrintable(t *testing.T) {
	for _, text := range []string{"plain <&>\n", "\x1b[31m\x7f\u0085", "a\u202eb\u2066\u200b", "👩\u200d💻 \U000E0041 表 ü"} {
		var b strings.Builder
		if err := encodeLine(&b, text); err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal([]byte(b.String()), &back); err != nil || back != text {
			t.Errorf("%q became %q, %v", text, back, err)
		}
		line := strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "👩\u200d💻", "👩💻") // a joiner between emoji is ordinary
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			t.Errorf("%q is shown as %q", text, line)
		}
		if strings.Contains(text, "表") && !strings.Contains(line, "👩") {
			t.Errorf("%q is shown as %q", text, line)
		}
	}
}

// What a provider answers must not steer the terminal, nor write lines that look as
// if the program had.
func TestErrorsFromOutsideAreOneLine(t *testing.T) {
	each(t, func(t *testing.T, flags ...string) {
		got := converse(t, func(satcheltest.Request) satcheltest.Response {
			return satcheltest.Response{Status: 400, Err: "no\x1b]0;title\x07\nsatchel: all is well\u202e"}
		}, "", append(flags, "hi")...)
		if got.code != exitFailed || strings.Count(got.err, "\n") != 1 || strings.ContainsAny(got.err, "\x1b\x07\u202e") {
			t.Errorf("code %d, err %q", got.code, got.err)
		}
	})
	got := program(t, nil, "", "list", "/no/such\x1b[31m\nplace")
	if got.code != exitFailed || strings.Count(got.err, "\n") != 1 || strings.Contains(got.err, "\x1b") {
		t.Errorf("code %d, err %q", got.code, got.err)
	}
	got = program(t, nil, "", "no\x1b[31m\nsuch")
	if got.code != exitUsage || strings.Count(got.err, "\n") != 2 || strings.Contains(got.err, "\x1b") {
		t.Errorf("code %d, err %q", got.code, got.err)
	}
}
