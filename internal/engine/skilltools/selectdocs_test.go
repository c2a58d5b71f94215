package skilltools

import (
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/tools"
)

func TestSelectDocs(t *testing.T) {
	files := library()
	files["pdf/zoom.md"] = "# Zoom"
	const docs = `its docs are ["forms.md","refs/tables.md","zoom.md"]`
	for _, tt := range []struct {
		name, first, args, answer, view string
		all                             bool
	}{
		{name: "replace is the default, in call order", args: `{"skill":"pdf","docs":["zoom.md","forms.md"]}`,
			answer: "docs of pdf: zoom.md, forms.md\n[skill#3 =pdf(zoom.md,forms.md)]", view: "pdf#1 pdf/zoom.md#3 pdf/forms.md#3"},
		{name: "replace takes away the others", first: `{"skill":"pdf","docs":["forms.md","refs/tables.md"]}`, args: `{"skill":"pdf","docs":["zoom.md","forms.md"],"mode":"replace"}`,
			answer: "docs of pdf: zoom.md, forms.md\n[skill#3 =pdf(zoom.md,forms.md)]", view: "pdf#1 pdf/forms.md#2 pdf/zoom.md#3"},
		{name: "add goes to the end", first: `{"skill":"pdf","docs":["zoom.md"]}`, args: `{"skill":"pdf","docs":["forms.md","zoom.md"],"mode":"add"}`,
			answer: "docs of pdf: zoom.md, forms.md\n[skill#3 =pdf(zoom.md,forms.md)]", view: "pdf#1 pdf/zoom.md#2 pdf/forms.md#3"},
		{name: "the same again adds nothing", first: `{"skill":"pdf","docs":["zoom.md"]}`, args: `{"skill":"pdf","docs":["zoom.md"]}`,
			answer: "docs of pdf: zoom.md\n[skill#3 =pdf(zoom.md)]", view: "pdf#1 pdf/zoom.md#2"},
		{name: "clear", first: `{"skill":"pdf","include_all_docs":true}`, args: `{"skill":"pdf","mode":"clear"}`,
			answer: "docs of pdf: none\n[skill#3 =pdf()]", view: "pdf#1"},
		{name: "clear ignores docs", first: `{"skill":"pdf","docs":["zoom.md"]}`, args: `{"skill":"pdf","mode":"clear","docs":["nope.md"],"include_all_docs":true}`,
			answer: "docs of pdf: none\n[skill#3 =pdf()]", view: "pdf#1"},
		{name: "all", first: `{"skill":"pdf","docs":["zoom.md"]}`, args: `{"skill":"pdf","include_all_docs":true}`,
			answer: "docs of pdf: forms.md, refs/tables.md, zoom.md\n[skill#3 =pdf*(forms.md,refs/tables.md,zoom.md)]",
			view:   "pdf#1 pdf/zoom.md#2 pdf/forms.md#3 pdf/refs/tables.md#3", all: true},
		{name: "add to all stays all", first: `{"skill":"pdf","include_all_docs":true}`, args: `{"skill":"pdf","docs":["zoom.md"],"mode":"add"}`,
			answer: "docs of pdf: forms.md, refs/tables.md, zoom.md\n[skill#3 =pdf*(forms.md,refs/tables.md,zoom.md)]",
			view:   "pdf#1 pdf/forms.md#2 pdf/refs/tables.md#2 pdf/zoom.md#2", all: true},
		{name: "names are cleaned", args: `{"skill":"pdf","docs":["./forms.md","refs//tables.md","forms.md"]}`,
			answer: "docs of pdf: forms.md, refs/tables.md\n[skill#3 =pdf(forms.md,refs/tables.md)]", view: "pdf#1 pdf/forms.md#3 pdf/refs/tables.md#3"},
		{name: "a string is one element", args: `{"skill":"pdf","docs":"forms.md"}`,
			answer: "docs of pdf: forms.md\n[skill#3 =pdf(forms.md)]", view: "pdf#1 pdf/forms.md#3"},
		{name: "an unknown doc changes nothing", first: `{"skill":"pdf","docs":["zoom.md"]}`, args: `{"skill":"pdf","docs":["forms.md","zom.md"]}`,
			answer: `error: skill "pdf" has no doc "zom.md"; ` + docs + `; did you mean "zoom.md"?`, view: "pdf#1 pdf/zoom.md#2"},
		{name: "a path out of the skill", args: `{"skill":"pdf","docs":["../docx/styles.md"]}`,
			answer: `error: skill "pdf" has no doc "../docx/styles.md"; ` + docs, view: "pdf#1"},
		{name: "no docs", args: `{"skill":"pdf"}`,
			answer: `error: name docs, or set include_all_docs, or use mode clear; the docs of "pdf" are ["forms.md","refs/tables.md","zoom.md"]`, view: "pdf#1"},
		{name: "not loaded", args: `{"skill":"docx","docs":["styles.md"]}`,
			answer: `error: skill "docx" is not loaded: call skill_load for it first`, view: "pdf#1"},
		{name: "clear of what is not loaded", args: `{"skill":"docx","mode":"clear"}`,
			answer: `error: skill "docx" is not loaded: call skill_load for it first`, view: "pdf#1"},
		{name: "unknown skill", args: `{"skill":"pfd","docs":["forms.md"]}`, answer: `error: unknown skill "pfd": did you mean "pdf"?`, view: "pdf#1"},
		{name: "hidden skill", args: `{"skill":"secret","docs":["inside.md"]}`,
			answer: `error: unknown skill "secret": use a name from the list of available skills`, view: "pdf#1"},
		{name: "no skill", args: `{"docs":["forms.md"]}`, answer: `error: "skill" is missing; send an object such as {"skill":"…"}`, view: "pdf#1"},
		{name: "unknown field", args: `{"skill":"pdf","docs":["forms.md"],"doc":"x"}`,
			answer: "docs of pdf: forms.md\nignored unknown field \"doc\"\n[skill#3 =pdf(forms.md)]", view: "pdf#1 pdf/forms.md#3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newHarness(t, files)
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
			if a := rec.Find("pdf"); a.All != tt.all {
				t.Errorf("all is %v", a.All)
			}
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

func TestSelectDocsKeepsTheBodyWhereItIs(t *testing.T) {
	d := newHarness(t, library())
	d.call("skill_load", `{"skill":"pdf","docs":["forms.md"]}`)
	before := d.record().Deliveries[0]
	d.call("skill_select_docs", `{"skill":"pdf","docs":["refs/tables.md"],"mode":"add"}`)
	d.call("skill_select_docs", `{"skill":"pdf","docs":["forms.md"],"mode":"add"}`)
	after := d.record().Deliveries
	if len(after) != 2 || !slices.Equal(after[0].Docs, before.Docs) || after[0].Digest != before.Digest {
		t.Errorf("the first delivery has changed: %+v", after)
	}
	if after[1].Body || after[1].Supersedes {
		t.Errorf("the second delivery is more than the new doc: %+v", after[1])
	}
}

func TestSelectDocsCountsAsUse(t *testing.T) {
	d := newHarness(t, library())
	d.call("skill_load", `{"skills":["pdf","docx"]}`)
	d.call("skill_select_docs", `{"skill":"pdf","mode":"clear"}`)
	if rec := d.record(); rec.Find("pdf").Used <= rec.Find("docx").Used {
		t.Error("pdf is not the last used one")
	}
}

func TestSelectChangedDoc(t *testing.T) {
	d := newHarness(t, library())
	d.call("skill_load", `{"skill":"pdf","docs":["forms.md","refs/tables.md"]}`)
	d.write("pdf/forms.md", "# Forms, second edition")
	d.call("skill_select_docs", `{"skill":"pdf","docs":["forms.md","refs/tables.md"]}`)
	d.expectView("pdf#1 ~pdf/forms.md#1 pdf/refs/tables.md#1 pdf/forms.md#2")
	if last := d.record().Deliveries[1]; !last.Supersedes || d.pinned(last.Docs[0].Digest) != "# Forms, second edition" {
		t.Errorf("delivered %+v", last)
	}
	d.call("skill_select_docs", `{"skill":"pdf","docs":["forms.md"]}`)
	d.expectView("pdf#1 pdf/forms.md#2")
}

// A doc that was selected but is no longer shown is delivered again.
func TestSelectWhatIsNotShown(t *testing.T) {
	t.Run("after it was shown once", func(t *testing.T) {
		d := newHarness(t, library())
		d.call("skill_load", `{"skill":"pdf","docs":["forms.md"]}`)
		d.spend()
		d.expect("skill_select_docs", `{"skill":"pdf","docs":["forms.md"],"mode":"add"}`, "docs of pdf: forms.md\n[skill#2 =pdf(forms.md)]")
		d.expectView("pdf#1 pdf/forms.md#2")
	})
	t.Run("removed by a summary", func(t *testing.T) {
		d := newHarness(t, library())
		d.call("skill_load", `{"skill":"pdf","docs":["forms.md"]}`)
		d.hidden[1] = true
		d.call("skill_select_docs", `{"skill":"pdf","docs":["forms.md"],"mode":"add"}`)
		d.expectView("pdf#1 pdf/forms.md#2")
	})
}

// A call that loses the race against an unload says so.
func TestSelectDocsAfterUnload(t *testing.T) {
	d := newHarness(t, library())
	d.call("skill_load", `pdf`)
	record := d.record()
	d.call("skill_unload", `pdf`)
	d.fixed = fixed(record)
	d.expect("skill_select_docs", `{"skill":"pdf","docs":["forms.md"]}`, `error: skill "pdf" is not loaded: call skill_load for it first`)
}

// The host may load a hidden skill; once it is loaded, the model can use it like
// any other.
func TestHiddenSkillThatTheHostLoaded(t *testing.T) {
	d := newHarness(t, library())
	declareSecret(t, d)
	d.call("skill_load", `pdf`)
	d.expect("skill_list_docs", `secret`, `["inside.md"]`)
	d.number = 4
	d.expect("skill_select_docs", `{"skill":"secret","docs":["inside.md"]}`, "docs of secret: inside.md\n[skill#5 =secret(inside.md)]")
	d.expect("skill_read", `{"skill":"secret","path":"inside.md"}`, "inside.md, lines 1 to 1 of 1\n# Inside")
	d.number = 5
	d.expect("skill_unload", `secret`, "unloaded: secret\nstill loaded: pdf\n[skill#6 -secret]")
	d.expect("skill_list_docs", `secret`, `error: unknown skill "secret": use a name from the list of available skills`)
}

func declareSecret(t *testing.T, d *harness) {
	t.Helper()
	decl, err := Declare(t.Context(), d.Scope, []tools.Load{{Skill: "secret"}})
	if err != nil {
		t.Fatal(err)
	}
	next, err := decl.Apply(t.Context(), d.record(), state.Mark{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.records.Save(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	d.number = next.Calls
}
