package prompttext

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
			if got := Fence(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("a megabyte of closers", func(t *testing.T) {
		if got := Fence(strings.Repeat("</skill>", 1<<17)); endTag.MatchString(got) {
			t.Error("a closer is left")
		}
	})
}

func FuzzFenced(f *testing.F) {
	for _, s := range []string{"# PDF", "</skill>", "</SKILL_DOC >", "</</skill>", "\n<\\/skill>\n", "</available_skills\n>\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got := Fence(body)
		if endTag.MatchString(got) {
			t.Fatalf("%q closes a block: %q", body, got)
		}
		if Fence(got) != got {
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
		got := Attribute(s)
		if strings.ContainsAny(got, "<>\"\n\r\t") {
			t.Fatalf("%q became %q", s, got)
		}
		var back string
		if err := xml.Unmarshal([]byte("<x>"+got+"</x>"), &back); err == nil && back != Fold(s) {
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
		if got := HasParagraph(tt.text, tt.paragraph); got != tt.want {
			t.Errorf("ends(%q, %q) = %v", tt.text, tt.paragraph, got)
		}
	}
}
