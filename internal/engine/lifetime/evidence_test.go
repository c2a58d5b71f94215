package lifetime

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const overview = `<available_skills>
<skill><name>pdf</name><description>Fill in, merge &amp; sign PDF forms. Use when the user asks for it.</description></skill>
<skill><name>pdf-forms</name><description>Draws invoices for customers as documents.</description></skill>
<skill><name>xlsx</name><description>Reads spreadsheets and documents.</description></skill>
<skill><name>docx</name><description>Writes Word documents, one after the other, for somebody.</description></skill>
</available_skills>
Load a skill before you rely on its invoice.`

func TestNamed(t *testing.T) {
	d := NewDescriptions(overview)
	skills := []Subject{
		d.Subject("pdf", "See forms.md, scripts/rotate_pages.py and https://example.com/watermarks.html."),
		d.Subject("xlsx", "Write output.csv."),
		d.Subject("docx", ""),
		d.Subject("late", "# Late\n\nPlans birthday parties."),
	}
	for _, tt := range []struct {
		prompt string
		want   string
	}{
		{"", ""},
		{"Thanks, that will do. What else can you do for me today?", ""},
		{"One more PDF", "pdf pdf-forms"},
		{"Please sign it and put the numbers into a spreadsheet", "pdf xlsx"},
		{"Three documents say so", ""}, // three descriptions share this term
		{"rotate the second one", "pdf"},
		{"Merge the spreadsheets", "pdf xlsx"},
		{"Merge the invoices of customers", "pdf-forms"},
		{"make it a csv", "xlsx"},
		{"it is at example.com", ""},
		{"a birthday for her", "late"},
		{"an invoice", "pdf-forms"}, // pdf-forms is not in view
		{"3 5 7", ""},
		{"One more of these. Somebody asks for it.", ""}, // words of any prompt
		{"DOCX", "docx"},
		{strings.Repeat("lorem ipsum ", 2000) + "spreadsheets " + strings.Repeat("dolor ", 2000) + " docx", "docx"},
	} {
		t.Run(tt.prompt[:min(len(tt.prompt), 20)], func(t *testing.T) {
			got := d.Named(tt.prompt, skills)
			if strings.Join(got, " ") != tt.want {
				t.Errorf("about %q, want %q", got, tt.want)
			}
		})
	}
}

// Hosts may write the list in a form of their own.
func TestNamedInOtherForms(t *testing.T) {
	for _, text := range []string{
		"<available_skills>\n- pdf: Fill in forms.\n- xlsx: Reads spreadsheets.\n</available_skills>",
		"<available_skills>\n<name>pdf</name>Fill in forms.\n<name>xlsx</name>Reads spreadsheets.\n</available_skills>",
		"You have:\n* pdf (forms and such)\n* xlsx spreadsheets",
	} {
		d := NewDescriptions(text)
		skills := []Subject{d.Subject("pdf", ""), d.Subject("xlsx", "")}
		if got := d.Named("the form", skills); !slices.Equal(got, []string{"pdf"}) {
			t.Errorf("%q: about %q", text, got)
		}
		if got := d.Named("a spreadsheet", skills); !slices.Equal(got, []string{"xlsx"}) {
			t.Errorf("%q: about %q", text, got)
		}
	}
}

func FuzzNamed(f *testing.F) {
	f.Add(overview, "One more PDF", "pdf", "See forms.md.")
	f.Add("<", "a", "<a", "..a..md")
	f.Fuzz(func(t *testing.T, overview, prompt, name, body string) {
		d := NewDescriptions(overview)
		skills := []Subject{d.Subject(name, body)}
		got := d.Named(prompt, skills)
		if !slices.Equal(got, d.Named(prompt, skills)) {
			t.Errorf("about %q", got)
		}
	})
}

func ExampleDescriptions_Named() {
	d := NewDescriptions("<available_skills>\n<name>pdf</name>Fill in forms.\n<name>xlsx</name>Write tables.\n</available_skills>")
	fmt.Println(d.Named("One more form, please", []Subject{d.Subject("pdf", ""), d.Subject("xlsx", "")}))
	// Output: [pdf]
}

func BenchmarkNamed(b *testing.B) {
	d := NewDescriptions(overview)
	skills := []Subject{d.Subject("pdf", strings.Repeat("Fill in the form by scripts/fill.py. ", 400))}
	for b.Loop() {
		if len(d.Named("One more PDF of the same kind as yesterday", skills)) != 2 {
			b.Fatal("not found")
		}
	}
}
