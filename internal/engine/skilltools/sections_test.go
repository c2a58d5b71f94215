package skilltools

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

const guide = "# Guide\nintro\n## Fill in\nfill\n### By hand\nhand\n## Merge\nmerge\n```\n# no heading\n```\n## Merge\nagain\n"

// withGuide are the skills of library, and pdf has a doc with sections.
func withGuide() map[string]string {
	files := library()
	files["pdf/guide.md"] = guide
	files["pdf/guide.md#merge.md"] = "# A file of its own"
	return files
}

func TestSelectSections(t *testing.T) {
	for _, tt := range []struct{ name, first, args, answer, view string }{
		{name: "by its text", args: `{"skill":"pdf","docs":["guide.md#Fill in"]}`,
			answer: "docs of pdf: guide.md#fill-in\n[skill#3 =pdf(guide.md#fill-in)]", view: "pdf#1 pdf/guide.md#fill-in#3"},
		{name: "by its text in another case, with marks", args: `{"skill":"pdf","docs":["./guide.md## FILL IN"]}`,
			answer: "docs of pdf: guide.md#fill-in\n[skill#3 =pdf(guide.md#fill-in)]", view: "pdf#1 pdf/guide.md#fill-in#3"},
		{name: "the second of that name", args: `{"skill":"pdf","docs":["guide.md#merge-1"]}`,
			answer: "docs of pdf: guide.md#merge-1\n[skill#3 =pdf(guide.md#merge-1)]", view: "pdf#1 pdf/guide.md#merge-1#3"},
		{name: "by text and by anchor", args: `{"skill":"pdf","docs":["guide.md#merge","guide.md#Merge"]}`,
			answer: "docs of pdf: guide.md#merge\n[skill#3 =pdf(guide.md#merge)]", view: "pdf#1 pdf/guide.md#merge#3"},
		{name: "a section that is the doc", args: `{"skill":"pdf","docs":["guide.md#guide"]}`,
			answer: "docs of pdf: guide.md\n[skill#3 =pdf(guide.md)]", view: "pdf#1 pdf/guide.md#3"},
		{name: "the name of a file goes first", args: `{"skill":"pdf","docs":["guide.md#merge.md"]}`,
			answer: "docs of pdf: guide.md#merge.md\n[skill#3 =pdf(guide.md#merge.md)]", view: "pdf#1 pdf/guide.md#merge.md#3"},
		{name: "a section of a file with # in its name", args: `{"skill":"pdf","docs":["guide.md#merge.md#a file of its own"]}`,
			answer: "docs of pdf: guide.md#merge.md\n[skill#3 =pdf(guide.md#merge.md)]", view: "pdf#1 pdf/guide.md#merge.md#3"},
		{name: "the doc and its section", args: `{"skill":"pdf","docs":["guide.md#merge","guide.md"]}`,
			answer: "docs of pdf: guide.md\n[skill#3 =pdf(guide.md)]", view: "pdf#1 pdf/guide.md#3"},
		{name: "replace takes away the other section", first: `{"skill":"pdf","docs":["guide.md#merge"]}`, args: `{"skill":"pdf","docs":["guide.md#fill-in"]}`,
			answer: "docs of pdf: guide.md#fill-in\n[skill#3 =pdf(guide.md#fill-in)]", view: "pdf#1 pdf/guide.md#fill-in#3"},
		{name: "add", first: `{"skill":"pdf","docs":["guide.md#merge"]}`, args: `{"skill":"pdf","docs":["guide.md#fill-in"],"mode":"add"}`,
			answer: "docs of pdf: guide.md#merge, guide.md#fill-in\n[skill#3 =pdf(guide.md#merge,guide.md#fill-in)]", view: "pdf#1 pdf/guide.md#merge#2 pdf/guide.md#fill-in#3"},
		{name: "the same again adds nothing", first: `{"skill":"pdf","docs":["guide.md#merge"]}`, args: `{"skill":"pdf","docs":["guide.md#Merge"],"mode":"add"}`,
			answer: "docs of pdf: guide.md#merge\n[skill#3 =pdf(guide.md#merge)]", view: "pdf#1 pdf/guide.md#merge#2"},
		{name: "the doc supersedes its sections", first: `{"skill":"pdf","docs":["guide.md#merge","forms.md"]}`, args: `{"skill":"pdf","docs":["guide.md"],"mode":"add"}`,
			answer: "docs of pdf: forms.md, guide.md\n[skill#3 =pdf(forms.md,guide.md)]", view: "pdf#1 ~pdf/guide.md#merge#2 pdf/forms.md#2 pdf/guide.md#3"},
		{name: "without a break in mode replace too", first: `{"skill":"pdf","docs":["guide.md#merge"]}`, args: `{"skill":"pdf","docs":["guide.md"]}`,
			answer: "docs of pdf: guide.md\n[skill#3 =pdf(guide.md)]", view: "pdf#1 ~pdf/guide.md#merge#2 pdf/guide.md#3"},
		{name: "all docs", first: `{"skill":"pdf","docs":["guide.md#merge"]}`, args: `{"skill":"pdf","include_all_docs":true,"mode":"add"}`,
			answer: "docs of pdf: forms.md, guide.md, guide.md#merge.md, refs/tables.md\n[skill#3 =pdf*(forms.md,guide.md,guide.md#merge.md,refs/tables.md)]",
			view:   "pdf#1 ~pdf/guide.md#merge#2 pdf/forms.md#3 pdf/guide.md#3 pdf/guide.md#merge.md#3 pdf/refs/tables.md#3"},
		{name: "the doc is in view", first: `{"skill":"pdf","docs":["guide.md"]}`, args: `{"skill":"pdf","docs":["guide.md#merge"],"mode":"add"}`,
			answer: "docs of pdf: guide.md\nin view already: guide.md#merge\n[skill#3 =pdf(guide.md)]", view: "pdf#1 pdf/guide.md#2"},
		{name: "the doc is in view and stays in mode replace", first: `{"skill":"pdf","docs":["guide.md","forms.md"]}`, args: `{"skill":"pdf","docs":["guide.md#merge","guide.md#fill-in"]}`,
			answer: "docs of pdf: guide.md\nin view already: guide.md#merge, guide.md#fill-in\n[skill#3 =pdf(guide.md)]", view: "pdf#1 pdf/guide.md#2"},
		{name: "a larger section is in view", first: `{"skill":"pdf","docs":["guide.md#fill-in"]}`, args: `{"skill":"pdf","docs":["guide.md#by hand","guide.md#merge"],"mode":"add"}`,
			answer: "docs of pdf: guide.md#fill-in, guide.md#merge\nin view already: guide.md#by-hand\n[skill#3 =pdf(guide.md#fill-in,guide.md#merge)]",
			view:   "pdf#1 pdf/guide.md#fill-in#2 pdf/guide.md#merge#3"},
		{name: "a larger section is in view and stays in mode replace", first: `{"skill":"pdf","docs":["guide.md#fill-in","guide.md#merge"]}`, args: `{"skill":"pdf","docs":["guide.md#by-hand"]}`,
			answer: "docs of pdf: guide.md#fill-in\nin view already: guide.md#by-hand\n[skill#3 =pdf(guide.md#fill-in)]", view: "pdf#1 pdf/guide.md#fill-in#2"},
		{name: "a section and one in it", args: `{"skill":"pdf","docs":["guide.md#by-hand","guide.md#fill-in"]}`,
			answer: "docs of pdf: guide.md#fill-in\n[skill#3 =pdf(guide.md#fill-in)]", view: "pdf#1 pdf/guide.md#fill-in#3"},
		{name: "a larger section supersedes its parts", first: `{"skill":"pdf","docs":["guide.md#by-hand","guide.md#merge"]}`, args: `{"skill":"pdf","docs":["guide.md#fill-in"],"mode":"add"}`,
			answer: "docs of pdf: guide.md#merge, guide.md#fill-in\n[skill#3 =pdf(guide.md#merge,guide.md#fill-in)]",
			view:   "pdf#1 ~pdf/guide.md#by-hand#2 pdf/guide.md#merge#2 pdf/guide.md#fill-in#3"},
		{name: "clear", first: `{"skill":"pdf","docs":["guide.md#merge"]}`, args: `{"skill":"pdf","mode":"clear"}`,
			answer: "docs of pdf: none\n[skill#3 =pdf()]", view: "pdf#1"},
		{name: "a heading like it", first: `{"skill":"pdf","docs":["forms.md"]}`, args: `{"skill":"pdf","docs":["guide.md#merge","guide.md#Fil in"]}`,
			answer: `error: doc "guide.md" of "pdf" has no heading "Fil in"; did you mean "fill-in"?`, view: "pdf#1 pdf/forms.md#2"},
		{name: "a part of a heading", args: `{"skill":"pdf","docs":"guide.md#hand"}`,
			answer: `error: doc "guide.md" of "pdf" has no heading "hand"; did you mean "by-hand"?`, view: "pdf#1"},
		{name: "no heading like it", args: `{"skill":"pdf","docs":["guide.md#zzz"]}`,
			answer: `error: doc "guide.md" of "pdf" has no heading "zzz"; its headings are ["guide","fill-in","by-hand","merge","merge-1"]`, view: "pdf#1"},
		{name: "fenced", args: `{"skill":"pdf","docs":["guide.md#no heading"]}`,
			answer: `error: doc "guide.md" of "pdf" has no heading "no heading"; its headings are ["guide","fill-in","by-hand","merge","merge-1"]`, view: "pdf#1"},
		{name: "no name", args: `{"skill":"pdf","docs":["guide.md#"]}`,
			answer: `error: doc "guide.md" of "pdf" has no heading ""; its headings are ["guide","fill-in","by-hand","merge","merge-1"]`, view: "pdf#1"},
		{name: "an unknown doc", args: `{"skill":"pdf","docs":["giude.md#merge"]}`,
			answer: `error: skill "pdf" has no doc "giude.md#merge"; its docs are ["forms.md","guide.md","guide.md#merge.md","refs/tables.md"]; did you mean "guide.md"?`, view: "pdf#1"},
		{name: "a path out of the skill", args: `{"skill":"pdf","docs":["../docx/styles.md#styles"]}`,
			answer: `error: skill "pdf" has no doc "../docx/styles.md#styles"; its docs are ["forms.md","guide.md","guide.md#merge.md","refs/tables.md"]`, view: "pdf#1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newHarness(t, withGuide())
			d.call("skill_load", `pdf`)
			d.number = 1
			if tt.first != "" {
				d.call("skill_select_docs", tt.first)
			}
			before := d.record()
			d.number = 2
			d.events = nil
			d.expect("skill_select_docs", tt.args, tt.answer)
			d.expectView(tt.view)
			rec := d.record()
			if strings.HasPrefix(tt.answer, "error") {
				if rec.Version != before.Version || len(d.events) != 0 {
					t.Error("an error has changed the record or was reported as an event")
				}
				return
			}
			if len(d.events) != 1 || d.events[0].Kind != core.DocsSelected || !slices.Equal(d.events[0].Docs, rec.Find("pdf").Docs) {
				t.Errorf("events %+v", d.events)
			}
		})
	}
}

// A section goes to the next heading of the same or a higher level.
func TestSectionText(t *testing.T) {
	d := newHarness(t, withGuide())
	d.call("skill_load", `{"skill":"pdf","docs":["guide.md#fill in","guide.md#merge"]}`)
	var texts []string
	for _, doc := range d.record().Deliveries[0].Docs {
		texts = append(texts, d.pinned(doc.Digest))
	}
	if want := []string{"## Fill in\nfill\n### By hand\nhand\n", "## Merge\nmerge\n```\n# no heading\n```\n"}; !slices.Equal(texts, want) {
		t.Errorf("sections %q, want %q", texts, want)
	}
}

func TestLoadSections(t *testing.T) {
	for _, tt := range []struct{ name, first, args, answer, view string }{
		{name: "a section", args: `{"skill":"pdf","docs":["guide.md#Fill in"]}`,
			answer: "loaded: pdf\n[skill#2 +pdf(guide.md#fill-in)]", view: "pdf#2 pdf/guide.md#fill-in#2"},
		{name: "added to a loaded skill", first: `pdf`, args: `{"skill":"pdf","docs":["guide.md#merge"]}`,
			answer: "already loaded: pdf; its text is above\n[skill#2 +pdf(guide.md#merge)]", view: "pdf#1 pdf/guide.md#merge#2"},
		{name: "the doc is in view", first: `{"skill":"pdf","docs":["guide.md"]}`, args: `{"skill":"pdf","docs":["guide.md#merge"]}`,
			answer: "already loaded: pdf; its text is above", view: "pdf#1 pdf/guide.md#1"},
		{name: "the doc supersedes its section", first: `{"skill":"pdf","docs":["guide.md#merge"]}`, args: `{"skill":"pdf","docs":["guide.md"]}`,
			answer: "already loaded: pdf; its text is above\n[skill#2 +pdf(guide.md)]", view: "pdf#1 ~pdf/guide.md#merge#1 pdf/guide.md#2"},
		{name: "a larger section is in view", first: `{"skill":"pdf","docs":["guide.md#fill-in"]}`, args: `{"skill":"pdf","docs":["guide.md#by-hand"]}`,
			answer: "already loaded: pdf; its text is above", view: "pdf#1 pdf/guide.md#fill-in#1"},
		{name: "a larger section supersedes its part", first: `{"skill":"pdf","docs":["guide.md#by-hand"]}`, args: `{"skill":"pdf","docs":["guide.md#fill-in"]}`,
			answer: "already loaded: pdf; its text is above\n[skill#2 +pdf(guide.md#fill-in)]", view: "pdf#1 ~pdf/guide.md#by-hand#1 pdf/guide.md#fill-in#2"},
		{name: "of several skills", args: `{"skills":["pdf","docx"],"docs":["guide.md#merge","styles.md#Styles"]}`,
			answer: "loaded: pdf\nloaded: docx\n[skill#2 +pdf(guide.md#merge) +docx(styles.md)]", view: "pdf#2 pdf/guide.md#merge#2 docx#2 docx/styles.md#2"},
		{name: "unknown headings and docs", args: `{"skill":"pdf","docs":["guide.md#zzz","nope.md#x","forms.md"]}`,
			answer: "loaded: pdf\nerror: doc \"guide.md\" of \"pdf\" has no heading \"zzz\"; its headings are [\"guide\",\"fill-in\",\"by-hand\",\"merge\",\"merge-1\"]\n" +
				"error: skill \"pdf\" has no doc \"nope.md#x\"; its docs are [\"forms.md\",\"guide.md\",\"guide.md#merge.md\",\"refs/tables.md\"]\n[skill#2 +pdf(forms.md)]",
			view: "pdf#2 pdf/forms.md#2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newHarness(t, withGuide())
			if tt.first != "" {
				d.call("skill_load", tt.first)
			}
			d.number = 1
			d.expect("skill_load", tt.args, tt.answer)
			d.expectView(tt.view)
		})
	}
}

// After an edit of a doc, a section is cut out of its present text.
func TestSectionsOfAnEditedDoc(t *testing.T) {
	edited := strings.Replace(guide, "fill\n", "fill, second edition\n", 1)
	t.Run("the section again", func(t *testing.T) {
		d := newHarness(t, withGuide())
		d.call("skill_load", `{"skill":"pdf","docs":["guide.md#fill-in","guide.md#merge"]}`)
		d.write("pdf/guide.md", edited)
		d.call("skill_select_docs", `{"skill":"pdf","docs":["guide.md#fill-in","guide.md#merge"]}`)
		d.expectView("pdf#1 ~pdf/guide.md#fill-in#1 pdf/guide.md#merge#1 pdf/guide.md#fill-in#2")
	})
	t.Run("an older text of the doc is in view", func(t *testing.T) {
		d := newHarness(t, withGuide())
		d.call("skill_load", `{"skill":"pdf","docs":["guide.md"]}`)
		d.write("pdf/guide.md", edited)
		d.expect("skill_select_docs", `{"skill":"pdf","docs":["guide.md#fill-in"],"mode":"add"}`,
			"docs of pdf: guide.md, guide.md#fill-in\n[skill#2 =pdf(guide.md,guide.md#fill-in)]")
		d.expectView("pdf#1 pdf/guide.md#1 pdf/guide.md#fill-in#2")
		if !d.record().Deliveries[1].Supersedes {
			t.Error("the section does not say that it is newer")
		}
		d.call("skill_select_docs", `{"skill":"pdf","docs":["guide.md"]}`)
		d.expectView("pdf#1 ~pdf/guide.md#1 ~pdf/guide.md#fill-in#2 pdf/guide.md#3")
	})
	t.Run("an older text of a larger section is in view", func(t *testing.T) {
		d := newHarness(t, withGuide())
		d.call("skill_load", `{"skill":"pdf","docs":["guide.md#fill-in"]}`)
		d.write("pdf/guide.md", strings.Replace(guide, "\nhand\n", "\nhand, second edition\n", 1))
		d.call("skill_select_docs", `{"skill":"pdf","docs":["guide.md#by-hand"],"mode":"add"}`)
		d.expectView("pdf#1 pdf/guide.md#fill-in#1 pdf/guide.md#by-hand#2")
		if !d.record().Deliveries[1].Supersedes {
			t.Error("the section does not say that it is newer")
		}
		d.call("skill_select_docs", `{"skill":"pdf","docs":["guide.md#fill-in"]}`)
		d.expectView("pdf#1 ~pdf/guide.md#fill-in#1 ~pdf/guide.md#by-hand#2 pdf/guide.md#fill-in#3")
	})
	t.Run("a change beside the section", func(t *testing.T) {
		d := newHarness(t, withGuide())
		d.call("skill_load", `{"skill":"pdf","docs":["guide.md#fill-in"]}`)
		d.write("pdf/guide.md", strings.Replace(guide, "again\n", "again, second edition\n", 1))
		d.call("skill_select_docs", `{"skill":"pdf","docs":["guide.md#by-hand"],"mode":"add"}`)
		d.expectView("pdf#1 pdf/guide.md#fill-in#1")
	})
	t.Run("with the body", func(t *testing.T) {
		d := newHarness(t, withGuide())
		d.call("skill_load", `{"skill":"pdf","docs":["guide.md#fill-in","guide.md#merge-1","forms.md"]}`)
		d.write("pdf/SKILL.md", md("pdf", "Reads PDF files.", "# PDF, second edition"))
		d.write("pdf/guide.md", "# Guide\n## Fill in\nmore\n## Merge\n")
		d.call("skill_load", `pdf`)
		d.expectView("~pdf#1 ~pdf/guide.md#fill-in#1 ~pdf/guide.md#merge-1#1 ~pdf/forms.md#1 pdf#2 pdf/guide.md#fill-in#2 pdf/forms.md#2")
	})
	t.Run("not in view any more", func(t *testing.T) {
		d := newHarness(t, withGuide())
		d.call("skill_load", `pdf`)
		d.call("skill_select_docs", `{"skill":"pdf","docs":["guide.md#merge"]}`)
		d.hidden[2] = true
		d.call("skill_select_docs", `{"skill":"pdf","docs":["guide.md"],"mode":"add"}`)
		d.expectView("pdf#1 pdf/guide.md#3")
		if d.record().Deliveries[1].Supersedes {
			t.Error("the doc supersedes a section that is not in view")
		}
	})
}

func TestListSections(t *testing.T) {
	long := func(sections int) string {
		var b strings.Builder
		b.WriteString("# Long\n")
		for i := range sections {
			fmt.Fprintf(&b, "## Part %d\n### Detail\n%s\n", i, strings.Repeat("word ", 6000/sections))
		}
		return b.String()
	}
	files := withGuide()
	files["csv/few.md"] = long(3)
	files["csv/many.md"] = long(30)
	files["csv/short.md"] = guide
	d := newHarness(t, files)
	answer := d.call("skill_list_docs", "csv")
	if want := `["few.md","few.md#part-0","few.md#detail","few.md#part-1","few.md#detail-1","few.md#part-2","few.md#detail-2","many.md","many.md#part-0",`; !strings.HasPrefix(answer, want) {
		t.Errorf("docs %s", answer)
	}
	if strings.Contains(answer, "many.md#detail") || !strings.HasSuffix(answer, `"many.md#part-29","short.md"]`) {
		t.Errorf("docs %s", answer)
	}
	d.expect("skill_list_docs", "pdf", `["forms.md","guide.md","guide.md#merge.md","refs/tables.md"]`)
}

// Lists after a body name the sections too, where the model can select them.
func TestReferencesNameSections(t *testing.T) {
	files := library()
	files["csv/SKILL.md"] = md("csv", "Reads tables.", "Read [this](long.md) and [that](short.md).")
	files["csv/long.md"] = "# Long\n## One\n" + strings.Repeat("word ", 8000) + "\n## Two\n"
	files["csv/short.md"] = "# Short\n## One\n"
	for _, tt := range []struct {
		how        tools.References
		load, want string
	}{
		{tools.ReferencesList, "", "<skill_files>\nlong.md\nlong.md#one\nlong.md#two\nshort.md\n</skill_files>"},
		{tools.ReferencesList, "skills_load", "<skill_files>\nlong.md\nshort.md\n</skill_files>"},
		{tools.ReferencesInline, "", "long.md; its sections: long.md#one, long.md#two"},
		{tools.ReferencesInline, "skills_load", "long.md"},
	} {
		d := newHarness(t, files)
		d.References, d.LoadToolName = tt.how, tt.load
		d.call("skill_load", "csv")
		if listing := d.pinned(d.record().Deliveries[0].Listing); !strings.HasSuffix(listing, tt.want) {
			t.Errorf("listing %q, want %q", listing, tt.want)
		}
	}
}

// What a call names is bounded.
func TestSectionBounds(t *testing.T) {
	files := library()
	var text strings.Builder
	var many []string
	for i := range maxSections + 1 {
		fmt.Fprintf(&text, "# H%d\n", i)
		many = append(many, fmt.Sprintf("%q", fmt.Sprintf("big.md#h%d", i)))
	}
	files["pdf/big.md"] = text.String()
	d := newHarness(t, files)
	d.call("skill_load", "pdf")
	d.expect("skill_select_docs", `{"skill":"pdf","docs":[`+strings.Join(many, ",")+`]}`, "error: a call may name at most 64 sections: name whole docs")
	for _, name := range []string{strings.Repeat("#", 100_000), "big.md#" + strings.Repeat("h", 100_000), strings.Repeat("#a", 50_000), "big.md#" + strings.Repeat("x#", 100)} {
		if answer := d.call("skill_select_docs", fmt.Sprintf(`{"skill":"pdf","docs":[%q]}`, name)); !strings.HasPrefix(answer, "error: ") || len(answer) > 3000 {
			t.Errorf("%d bytes: %.300s", len(answer), answer)
		}
	}
}

// The docs that a call has named are found again by the names of its receipt.
func TestDocsOfSections(t *testing.T) {
	o := SelectDocs()
	docs, _ := DocsOf(o.Decode(`{"skill":"pdf","docs":["./guide.md#Fill in","a#b.md#C#"]}`))
	for _, want := range []string{"guide.md#fill-in", "a#b.md#c"} {
		if !slices.Contains(docs, want) {
			t.Errorf("docs %q without %q", docs, want)
		}
	}
}

// FuzzSectionNames checks that each name means a doc of the skill, and that what a record keeps of
// it means the same.
func FuzzSectionNames(f *testing.F) {
	for _, name := range []string{"guide.md", "guide.md#merge", "./guide.md#merge.md#x", "#", "guide.md#", "..#guide.md", "guide.md#a/../b"} {
		f.Add(name, guide)
	}
	d := newHarness(f, withGuide())
	known, err := d.Catalog().Docs(f.Context(), "pdf")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		ref, ok := refOf(name, known)
		if !ok {
			return
		}
		if !slices.Contains(known, ref.doc) {
			t.Fatalf("%q means doc %q", name, ref.doc)
		}
		if !ref.isSection {
			return
		}
		cut, err := section(core.Skill{Name: "pdf"}, ref, catalog.Content{Text: text, Digest: session.Digest(text)})
		if err != nil {
			return
		}
		again, ok := refOf(cut.name, known)
		if !ok || again.doc != ref.doc {
			t.Fatalf("%q is kept as %q, which means %+v", name, cut.name, again)
		}
		if cut.place == nil {
			return
		}
		if state.SectionDoc(cut.name) != ref.doc {
			t.Errorf("%q is no section of %q", cut.name, ref.doc)
		}
		if second, err := section(core.Skill{Name: "pdf"}, again, catalog.Content{Text: text, Digest: session.Digest(text)}); err != nil || second.content != cut.content {
			t.Errorf("%q is kept as %q with another text: %v", name, cut.name, err)
		}
	})
}
