package turn

import "testing"

func TestNamesWord(t *testing.T) {
	for text, want := range map[string]bool{
		"I have used pdf.":            true,
		"pdf":                         true,
		"By the `pdf` skill":          true,
		"(pdf)":                       true,
		"**pdf**: done":               true,
		"pdf: done":                   true,
		"我用了pdf技能":                    true,
		"report.pdf is there":         false,
		"skills/pdf/SKILL.md":         false,
		"pdf-tools":                   false,
		"my-pdf":                      false,
		"pdfs":                        false,
		"other:pdf":                   false,
		"pdf.md":                      false,
		"PDF":                         false,
		"pdfpdf, report.pdf and pdf!": true,
		"":                            false,
		"the pd":                      false,
		"\xffpdf\xff":                 true,
	} {
		if got := namesWord(text, "pdf"); got != want {
			t.Errorf("namesWord(%q, pdf) = %v, want %v", text, got, want)
		}
	}
	if namesWord("anything", "") {
		t.Error("a text names a skill without a name")
	}
}
