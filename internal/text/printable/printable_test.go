package printable_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/satchel-go/satchel/internal/text/printable"
)

func TestLine(t *testing.T) {
	for text, want := range map[string][2]string{ // results of Line and Lines
		"plain <&> é😀":          {"plain <&> é😀", "plain <&> é😀"},
		"a\u202egnp.txt":        {`a\u202egnp.txt`, `a\u202egnp.txt`},
		"a\n\tb\r\x1b[2J":       {`a\u000a\u0009b\u000d\u001b[2J`, "a\n\tb" + `\u000d\u001b[2J`},
		"\u2028\u2029\u0085":    {`\u2028\u2029\u0085`, `\u2028\u2029\u0085`},
		"\U000E0041":            {`\udb40\udc41`, `\udb40\udc41`}, // a tag character, which has no width
		"broken \xff \uFFFD ok": {"broken \uFFFD \uFFFD ok", "broken \uFFFD \uFFFD ok"},
	} {
		if got := [2]string{printable.Line(text), printable.Lines(text)}; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What is read back is the text, nothing in between is hidden, and the size is right.
func FuzzText(f *testing.F) {
	for _, text := range []string{"", "a\u202eb", "<&>\"\\\n\x00\x7f", "\U000E0041\u200d", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		encoded, err := json.Marshal(printable.Texts([]string{text}))
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(string(encoded), func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) }) || printable.HasInvisible(string(encoded)) {
			t.Errorf("%q shows as %q", text, encoded)
		}
		var back []string
		if err := json.Unmarshal(encoded, &back); err != nil {
			t.Fatal(err)
		}
		if back[0] != strings.ToValidUTF8(text, "\uFFFD") && back[0] != string([]rune(text)) {
			t.Errorf("%q came back as %q", text, back[0])
		}
	})
}
