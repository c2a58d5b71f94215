package steps

import (
	"strings"
	"testing"
	"time"
)

func FuzzMentions(f *testing.F) {
	for _, s := range []string{"use $pdf-forms, not $HOME", "/pdf do\n`$x` $y.", "```\n$code\n```\n$user:pdf!", "~~~\n$a", "``$a`` `$b $c", "$$a$\xff /b"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = min(max(most, 0), 64)
		mentions := Mentions(text, true, true, most)
		if len(mentions) > most {
			t.Fatalf("%d words of at most %d: %q", len(mentions), most, mentions)
		}
		var words []string
		for _, m := range mentions {
			w := m.Word
			words = append(words, w)
			if strings.ContainsAny(m.Arguments, "\r\n") || m.Arguments != strings.TrimSpace(m.Arguments) || !strings.Contains(text, m.Arguments) {
				t.Fatalf("arguments %q of %q", m.Arguments, text)
			}
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

func TestMentionsIgnoreCode(t *testing.T) {
	for text, want := range map[string]string{
		"```\n$pdf\n```\n$docx":         "docx",
		"run\n\n    $pdf\n\nwith $docx": "docx",
		"\t$pdf":                        "",
		"`$pdf` $docx":                  "docx",
		"- a list\n    of $pdf":         "pdf",
		"- a list\n\n    of $pdf":       "pdf",
		"> ```\n> $pdf\n> ```\n$docx":   "docx",
		"> > ~~~\n> > $pdf\n> > ~~~":    "",
		">     $pdf":                    "",
		"- ```\n  $pdf\n  ```\n$docx":   "docx",
		"1. ```\n   $pdf":               "",
		"<code>$pdf</code> $docx":       "docx",
		"<pre>\n$pdf\n/pdf\n</pre>":     "",
	} {
		got := ""
		for _, m := range Mentions(text, true, true, 8) {
			got += m.Word
		}
		if got != want {
			t.Errorf("%q mentions %q, want %q", text, got, want)
		}
	}
}

// TestMentionsOfHostileText: the time grows with the length of a message, not with its square.
func TestMentionsOfHostileText(t *testing.T) {
	for _, part := range []string{"$ ", "` $", "$`", "<code> $", "` `` $"} {
		begin := time.Now()
		Mentions(strings.Repeat(part, 1<<20/len(part)), true, true, 8)
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("1 MiB of %q takes %v", part, took)
		}
	}
}

func TestMentionArguments(t *testing.T) {
	for text, want := range map[string]string{
		"/pdf merge a b":                  "merge a b",
		"/pdf   merge  a \"b c\"  \nmore": `merge  a "b c"`,
		"/pdf\tmerge a\r\n":               "merge a",
		"/pdf: merge":                     "merge",
		"/pdf":                            "",
		"/pdf, please":                    "",
		"/pdf\nmerge a b":                 "",
		"$pdf merge a b":                  "",
		`"/pdf merge a"`:                  "merge a",
		"**/pdf** merge":                  "",
		"（/pdf merge）":                    "merge",
		"/pdf use $docx":                  "use $docx",
	} {
		mentions := Mentions(text, true, true, 8)
		if len(mentions) == 0 || mentions[0].Word != "pdf" || mentions[0].Arguments != want {
			t.Errorf("%q: %q, want arguments %q", text, mentions, want)
		}
	}
}
