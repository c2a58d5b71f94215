//go:build unix

package page_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/tracing/line"
	"github.com/satchel-go/satchel/internal/tracing/page"
)

func TestComparison(t *testing.T) {
	v := openComparison(t, sampleTrace(t, "whole", 1), sampleTrace(t, "whole", 0.5))
	for _, c := range []struct{ script, want string }{
		{"document.querySelector('[data-side=A]').querySelector('[data-total=cached_tokens]').dataset.value", "27360"},
		{"document.querySelector('[data-side=B]').querySelector('[data-total=cached_tokens]').dataset.value", "13680"},
		{"[...document.querySelectorAll('[data-total][data-differs=true]')].map((e) => e.closest('[data-side]').dataset.side + e.dataset.total)", "Acached_tokens,Bcached_tokens"},
		{"document.querySelectorAll('[data-call][data-differs=true]').length", "16"},
		{"document.querySelectorAll('[data-side=A] [data-call]').length", "10"},
		{"document.querySelectorAll('#skills [data-side=B] tr[data-skill]').length", "4"},
		{"document.querySelectorAll('#why [data-side=B] [data-why]').length", "4"},
	} {
		v.check("the comparison", c.script, c.want)
	}
	v.Press("j", "j", "Enter")
	v.check("a call of B", "document.querySelector('#call').dataset.call + location.hash", "invoices/1#call=invoices%2F1&side=B")
	v.Press("Escape")
	v.check("the focus", "document.activeElement.closest('[data-side]').dataset.side", "B")
}

// The name of a call is its permalink on both sides. Only where both have the name, the address also names the side.
func TestPermalinksOfAComparison(t *testing.T) {
	r := newRecorder(t, "whole")
	r.session = "other"
	r.turn, r.call = 1, 1
	r.write(&line.Turn{Head: r.head(line.EventTurn), Prompt: "go"})
	r.write(&line.Call{Head: r.head(line.EventCall), Model: "m", Add: []string{}})
	v := openComparison(t, sampleTrace(t, "whole", 1), r.trace())
	v.openCall("other/1")
	v.Press("Escape")
	v.check("the link", "document.activeElement.getAttribute('href')", "#call=other%2F1")
	v.openCall("invoices/1")
}

func TestSections(t *testing.T) {
	section := page.Section{ID: "trials", Title: "Trials", Tables: []page.Table{{
		Columns: []string{"query", "result"},
		Rows: []page.Row{
			{Data: map[string]string{"data-trial": "1"}, Cells: []page.Cell{{Text: "a table of march.pdf", Call: "invoices/2"}, {Text: "loaded", State: "good"}}},
			{Data: map[string]string{"data-trial": "2"}, Cells: []page.Cell{{Text: "a call that is not there", Call: "other/2"}, {Text: "not loaded", State: "bad"}}},
		},
	}}}
	v := open(t, sampleTrace(t, "whole", 1), section)
	v.check("the tabs", "[...document.querySelectorAll('[role=tab]')].map((tab) => tab.textContent)", "Trials,Timeline,Skills,Why")
	v.check("the first tab", "document.querySelector('#trials').checkVisibility()", "true")
	v.check("links", "[...document.querySelectorAll('[data-trial]')].map((row) => row.querySelector('a')?.getAttribute('href'))", "#call=invoices%2F2,")
	v.Click("[data-trial='1'] a")
	v.Wait(opened + " === 'invoices/2'")
	v.Press("Escape")
	v.check("where it goes back to", "document.querySelector('#trials').checkVisibility()", "true")
}

func TestWrongSections(t *testing.T) {
	for name, s := range map[string]page.Section{
		"an id of the page":   {ID: "timeline"},
		"no id":               {},
		"a handler attribute": {ID: "trials", Tables: []page.Table{{Rows: []page.Row{{Data: map[string]string{"onclick": "x"}}}}}},
	} {
		var out bytes.Buffer
		if err := page.Write(&out, "t", sampleTrace(t, "whole", 1), s); err == nil || !strings.Contains(err.Error(), "write page: section") || out.Len() > 0 {
			t.Errorf("%s: %v, and %d bytes", name, err, out.Len())
		}
	}
}
