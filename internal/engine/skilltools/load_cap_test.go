package skilltools

import (
	"slices"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
)

// A loaded text that the request does not show is delivered again when the model loads the skill.
// The answer then does not say that the text is above.
func TestLoadWhatIsNotShown(t *testing.T) {
	t.Run("after it was shown once", func(t *testing.T) {
		d := newHarness(t, library())
		d.call("skill_load", `{"skills":["pdf","docx"],"docs":["forms.md"]}`)
		d.spend()
		d.expect("skill_load", `{"skill":"pdf","docs":["forms.md"]}`, "loaded: pdf\n[skill#2 +pdf(forms.md)]")
		d.expectView("docx#1 pdf#2 pdf/forms.md#2")
	})
	t.Run("body removed by a summary, docs still in view", func(t *testing.T) {
		d := newHarness(t, library())
		d.call("skill_load", `{"skill":"pdf"}`)
		d.call("skill_select_docs", `{"skill":"pdf","docs":["forms.md"]}`)
		d.hidden[1] = true
		d.expect("skill_load", `pdf`, "loaded: pdf\n[skill#3 +pdf]")
		d.expectView("pdf/forms.md#2 pdf#3")
		if got := d.record().Find("pdf").Docs; !slices.Equal(got, []string{"forms.md"}) {
			t.Errorf("selected %q", got)
		}
	})
	t.Run("changed body removed by a summary, docs still in view", func(t *testing.T) {
		d := newHarness(t, library())
		d.call("skill_load", `{"skill":"pdf"}`)
		d.call("skill_select_docs", `{"skill":"pdf","docs":["forms.md"]}`)
		d.hidden[1] = true
		d.write("pdf/SKILL.md", md("pdf", "Reads PDF files.", "# PDF, second edition"))
		d.expect("skill_load", `pdf`, "loaded: pdf (its text has changed: this one supersedes the earlier one)\n[skill#3 +pdf(forms.md)]")
		d.expectView("~pdf/forms.md#2 pdf#3 pdf/forms.md#3")
	})
	t.Run("doc removed by a summary, body in view", func(t *testing.T) {
		d := newHarness(t, library())
		d.call("skill_load", `{"skill":"pdf","docs":["forms.md"]}`)
		d.hidden[1] = true
		d.call("skill_load", `pdf`)
		d.expect("skill_load", `{"skill":"pdf","docs":["forms.md"]}`, "already loaded: pdf; its text is above\n[skill#3 +pdf(forms.md)]")
		d.expectView("pdf#2 pdf/forms.md#3")
	})
}

// spend marks everything that was delivered as spent: the model has answered to
// it.
func (d *harness) spend() {
	d.t.Helper()
	_, err := d.records.Update(d.t.Context(), harnessKey, func(rec *state.Record) (*state.Record, error) {
		next := rec.Clone()
		for i := range next.Deliveries {
			next.Deliveries[i].Spent = true
		}
		return next, nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

func TestLoadCap(t *testing.T) {
	t.Run("the least recently used one goes", func(t *testing.T) {
		d := newHarness(t, library())
		d.Max = 2
		d.call("skill_load", `{"skills":["pdf","docx"]}`)
		d.call("skill_select_docs", `{"skill":"pdf","docs":["forms.md"]}`)
		d.call("skill_read", `{"skill":"docx","path":"styles.md"}`) // reading does not count as a use
		d.events = nil
		d.expect("skill_load", `csv`, "loaded: csv\nunloaded to make room (at most 2): docx\n[skill#3 +csv -docx]")
		d.expectView("pdf#1 pdf/forms.md#2 csv#3")
		if len(d.events) != 2 || d.events[1].Kind != core.SkillEvicted || d.events[1].Skill != "docx" {
			t.Errorf("events %+v", d.events)
		}
	})
	t.Run("the host chooses", func(t *testing.T) {
		d := newHarness(t, library())
		d.Max = 2
		var offered []string
		d.Victim = func(c []loadmode.Candidate) string {
			for _, a := range c {
				offered = append(offered, a.Skill)
			}
			return "docx"
		}
		d.call("skill_load", `{"skills":["pdf","docx"]}`)
		d.expect("skill_load", `csv`, "loaded: csv\nunloaded to make room (at most 2): docx\n[skill#2 +csv -docx]")
		if want := []string{"pdf", "docx"}; !slices.Equal(offered, want) {
			t.Errorf("offered %q, want %q: never the skill of the call", offered, want)
		}
	})
	t.Run("more than the cap in one call", func(t *testing.T) {
		d := newHarness(t, library())
		d.Max = 2
		d.call("skill_load", `pdf`)
		d.expect("skill_load", `{"skills":["docx","csv","spreadsheets"]}`,
			"error: 3 skills in one call are more than the 2 that can be loaded; load fewer")
		d.expectView("pdf#1")
	})
	t.Run("no cap", func(t *testing.T) {
		d := newHarness(t, library())
		d.Max = 0
		d.call("skill_load", `{"skills":["pdf","docx","csv","spreadsheets","pdf-tools"]}`)
		if d.loaded() != "pdf, docx, csv, spreadsheets, pdf-tools" {
			t.Errorf("loaded %s", d.loaded())
		}
	})
}
