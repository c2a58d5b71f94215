package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"one\ntwo\r\nthree\tfour\u2028five": "one two three four five",
		"red\x1b[31m \u202eback\x00":        "red\uFFFD[31m \uFFFDback\uFFFD",
		"نمی\u200cخواهم 👩\u200d💻":           "نمی\u200cخواهم 👩\u200d💻",
		"broken\xff":                        "broken\uFFFD",
	} {
		if got := Printable(text); got != want {
			t.Errorf("printable(%q) = %q, want %q", text, got, want)
		}
	}
	if got := Shorten("four words of text", 11); got != "four words…" {
		t.Errorf("shortened = %q", got)
	}
}

// What is JSON steers no terminal either, and means the same.
func TestJSONIsPrintable(t *testing.T) {
	for _, text := range []string{"plain <&>\n", "\x1b[31m\x7f\u0085", "a\u202eb\u2066\u200b", "👩\u200d💻 \U000E0041 表 ü"} {
		var b strings.Builder
		if err := WriteJSON(&b, text); err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal([]byte(b.String()), &back); err != nil || back != text {
			t.Errorf("%q became %q, %v", text, back, err)
		}
		line := strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "👩\u200d💻", "👩💻") // between emoji a joiner is an ordinary character
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			t.Errorf("%q is shown as %q", text, line)
		}
		if strings.Contains(text, "表") && !strings.Contains(line, "👩") {
			t.Errorf("%q is shown as %q", text, line)
		}
	}
}
