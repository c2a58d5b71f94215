package processors

import (
	"encoding/xml"
	"regexp"
	"strings"
	"testing"
)

var endTag = regexp.MustCompile(`(?i)</(skill|skill_doc|active_skills|available_skills)[ \t\r\n]*>`)

func TestFenced(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"nothing to do", "# PDF\n\nUse <b>it</b> & go.", "# PDF\n\nUse <b>it</b> & go."},
		{"line breaks around", "\n\n# PDF\n\n", "# PDF"},
		{"empty", "", ""},
		{"closer", "a</skill>b", `a<\/skill>b`},
		{"all closers", "</skill></skill_doc></active_skills></available_skills>", `<\/skill><\/skill_doc><\/active_skills><\/available_skills>`},
		{"any case", "</SKILL></Skill_Doc>", `<\/SKILL><\/Skill_Doc>`},
		{"white space before the end", "</skill ></skill\n\t>", "<\\/skill ><\\/skill\n\t>"},
		{"other tags", "</skills></skill-x></sk></ skill>", "</skills></skill-x></sk></ skill>"},
		{"cut off", "</skill", "</skill"},
		{"opening tags stay", `<skill name="x">`, `<skill name="x">`},
		{"escaped before", `<\/skill>`, `<\/skill>`},
		{"one in another", "</</skill>skill>", `</<\/skill>skill>`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := fenced(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("a megabyte of closers", func(t *testing.T) {
		if got := fenced(strings.Repeat("</skill>", 1<<17)); endTag.MatchString(got) {
			t.Error("a closer is left")
		}
	})
}

func FuzzFenced(f *testing.F) {
	for _, s := range []string{"# PDF", "</skill>", "</SKILL_DOC >", "</</skill>", "\n<\\/skill>\n", "</available_skills\n>\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got := fenced(body)
		if endTag.MatchString(got) {
			t.Fatalf("%q closes a block: %q", body, got)
		}
		if fenced(got) != got {
			t.Fatalf("%q is changed a second time", got)
		}
		plain := strings.Trim(body, "\n")
		if !endTag.MatchString(plain) && got != plain {
			t.Fatalf("%q became %q without need", plain, got)
		}
		if n := len(got) - len(plain); n != len(endTag.FindAllString(plain, -1)) || strings.ReplaceAll(got, `\`, "") != strings.ReplaceAll(plain, `\`, "") {
			t.Fatalf("%q became %q", plain, got)
		}
	})
}

func FuzzXMLText(f *testing.F) {
	f.Add("Reads <b>PDF</b> & \"forms\"\n\tof all kinds.")
	f.Add("</description></skill>\u2028")
	f.Fuzz(func(t *testing.T, s string) {
		got := xmlAttribute(s)
		if strings.ContainsAny(got, "<>\"\n\r\t") {
			t.Fatalf("%q became %q", s, got)
		}
		var back string
		if err := xml.Unmarshal([]byte("<x>"+got+"</x>"), &back); err == nil && back != folded(s) {
			t.Fatalf("%q became %q, which reads as %q", s, got, back)
		}
	})
}

func TestEnds(t *testing.T) {
	for _, tt := range []struct {
		text, paragraph string
		want            bool
	}{
		{"a", "a", true}, {"x\n\na", "a", true}, {"x\na", "a", false}, {"xa", "a", false}, {"a\n\nx", "a", false}, {"", "a", false}, {"a\n", "a", false},
	} {
		if got := ends(tt.text, tt.paragraph); got != tt.want {
			t.Errorf("ends(%q, %q) = %v", tt.text, tt.paragraph, got)
		}
	}
}

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
