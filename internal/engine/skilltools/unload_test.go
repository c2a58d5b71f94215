package skilltools

import (
	"testing"

	"github.com/satchel-go/satchel/core"
)

func TestUnload(t *testing.T) {
	for _, tt := range []struct{ name, args, answer, view string }{
		{"one", `{"skills":["pdf"]}`, "unloaded: pdf\nstill loaded: docx, csv\n[skill#2 -pdf]", "docx#1 docx/styles.md#1 csv#1"},
		{"bare name", `docx`, "unloaded: docx\nstill loaded: pdf, csv\n[skill#2 -docx]", "pdf#1 csv#1"},
		{"names that models have", `{"names":["csv"],"skill":"pdf"}`, "unloaded: csv\nunloaded: pdf\nstill loaded: docx\n[skill#2 -csv -pdf]", "docx#1 docx/styles.md#1"},
		{"several", `{"skills":["csv","pdf"]}`, "unloaded: csv\nunloaded: pdf\nstill loaded: docx\n[skill#2 -csv -pdf]", "docx#1 docx/styles.md#1"},
		{"all", `{"all":true}`, "unloaded: pdf\nunloaded: docx\nunloaded: csv\nstill loaded: none\n[skill#2 -pdf -docx -csv]", ""},
		{"all wins over names", `{"all":true,"skills":["nope"]}`, "unloaded: pdf\nunloaded: docx\nunloaded: csv\nstill loaded: none\n[skill#2 -pdf -docx -csv]", ""},
		{"one is not loaded", `{"skills":["pdf","nope","pdf"]}`, "unloaded: pdf\nnot loaded: nope\nstill loaded: docx, csv\n[skill#2 -pdf]", "docx#1 docx/styles.md#1 csv#1"},
		{"none is loaded", `{"skills":["nope","spreadsheets"]}`, "not loaded: nope\nnot loaded: spreadsheets\nstill loaded: pdf, docx, csv", "pdf#1 docx#1 docx/styles.md#1 csv#1"},
		{"no names", `{}`, `error: name skills, such as {"skills":["…"]}, or set all`, "pdf#1 docx#1 docx/styles.md#1 csv#1"},
		{"all is false", `{"all":false}`, `error: name skills, such as {"skills":["…"]}, or set all`, "pdf#1 docx#1 docx/styles.md#1 csv#1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newHarness(t, library())
			d.call("skill_load", `{"skills":["pdf","docx","csv"],"docs":["styles.md"]}`)
			d.expect("skill_unload", tt.args, tt.answer)
			d.expectView(tt.view)
		})
	}
}

func TestUnloadNothing(t *testing.T) {
	d := newHarness(t, library())
	d.expect("skill_unload", `{"all":true}`, "still loaded: none")
	if d.record().Version != 0 || len(d.events) != 0 {
		t.Error("unloading nothing has changed the record or reported an event")
	}
}

func TestUnloadEvents(t *testing.T) {
	d := newHarness(t, library())
	d.call("skill_load", `{"skills":["pdf","docx"]}`)
	d.events = nil
	d.call("skill_unload", `{"skills":["docx","nope"]}`)
	if len(d.events) != 1 || d.events[0].Kind != core.SkillUnloaded || d.events[0].Skill != "docx" {
		t.Errorf("events %+v", d.events)
	}
}

// A loaded skill that the catalog does not have any more can be unloaded, and other tools still
// work.
func TestSkillGoneFromTheCatalog(t *testing.T) {
	d := newHarness(t, library())
	d.call("skill_load", `{"skills":["pdf","docx"]}`)
	delete(d.files, "docx/SKILL.md")
	d.refresh()
	d.expect("skill_load", `csv`, "loaded: csv\n[skill#2 +csv]")
	d.expect("skill_read", `{"skill":"docx","path":"styles.md"}`, `error: unknown skill "docx": use a name from the list of available skills`)
	d.expect("skill_unload", `docx`, "unloaded: docx\nstill loaded: pdf, csv\n[skill#3 -docx]")
	d.expectView("pdf#1 csv#2")
}

// Loading a skill after an unload delivers its text again.
func TestLoadAfterUnload(t *testing.T) {
	d := newHarness(t, library())
	d.call("skill_load", `{"skill":"pdf","docs":["forms.md"]}`)
	d.call("skill_unload", `pdf`)
	d.expect("skill_load", `pdf`, "loaded: pdf\n[skill#3 +pdf]")
	d.expectView("pdf#3")
	if a := d.record().Find("pdf"); len(a.Docs) != 0 {
		t.Errorf("selected %q", a.Docs)
	}
}
