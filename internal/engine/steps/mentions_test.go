package steps

import (
	"strings"
	"testing"
)

func FuzzMentions(f *testing.F) {
	for _, s := range []string{"use $pdf-forms, not $HOME", "/pdf do\n`$x` $y.", "```\n$code\n```\n$user:pdf!", "~~~\n$a", "``$a`` `$b $c", "$$a$\xff /b"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = min(max(most, 0), 64)
		words := Mentions(text, true, true, most)
		if len(words) > most {
			t.Fatalf("%d words of at most %d: %q", len(words), most, words)
		}
		for _, w := range words {
			if w == "" || len(w) > 4*maxMention || strings.ContainsAny(w, " \t\r\n,;!?)`") || !strings.Contains(text, "$"+w) && !strings.Contains(text, "/"+w) {
				t.Fatalf("%q of %q", w, text)
			}
		}
		if again := Mentions(strings.Join(words, " "), true, true, 64); len(words) == 0 && len(again) > 0 {
			t.Fatalf("%q mentions %q", words, again)
		}
		if off := Mentions(text, false, false, 64); len(off) > 0 {
			t.Fatalf("off: %q", off)
		}
	})
}
