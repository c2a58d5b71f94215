//go:build unix

package page_test

import (
	"strings"
	"testing"
)

// focused names the call that has the focus in the timeline.
const focused = "document.activeElement.dataset.call ?? document.activeElement.tagName"

// opened names the call that is open.
const opened = "document.querySelector('#call')?.dataset.call"

func TestKeys(t *testing.T) {
	v := open(t, sampleTrace(t, "whole", 1))
	for _, step := range []struct{ key, script, want string }{
		{"j", focused, "invoices/1"},
		{"j", focused, "invoices/2"},
		{"ArrowDown", focused, "invoices/3"},
		{"k", focused, "invoices/2"},
		{"ArrowUp", focused, "invoices/1"},
		{"k", focused, "invoices/1"},
		{"j", focused, "invoices/2"},
		{"Enter", opened, "invoices/2"},
		{"j", opened, "invoices/3"},
		{"ArrowDown", opened, "invoices/4"},
		{"k", opened, "invoices/3"},
		{"Escape", opened, "undefined"},
		{"j", focused, "invoices/4"},
		{"/", "document.activeElement.id", "search"},
		{"j", "document.activeElement.value", "j"},
		{"Escape", "document.querySelector('#search').value", ""},
	} {
		v.Press(step.key)
		v.check("after "+step.key, step.script, step.want)
	}
}

func TestTheFirstKeySelectsTheFirstCall(t *testing.T) {
	for _, key := range []string{"j", "k", "ArrowDown", "ArrowUp"} {
		v := open(t, sampleTrace(t, "whole", 1))
		v.Press(key)
		v.check("after "+key, focused, "invoices/1")
	}
}

func TestEscapeGivesTheFocusBack(t *testing.T) {
	v := open(t, sampleTrace(t, "whole", 1))
	v.openCall("invoices/7")
	v.check("the address", "location.hash", "#call=invoices%2F7")
	v.Press("Escape")
	v.check("the focus", focused, "invoices/7")
	v.check("the address", "location.hash", "")
	v.check("the timeline", "document.querySelector('#timeline').checkVisibility()", "true")
	v.check("the focus is seen", "getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth", "solid2px")
}

func TestTabIsLeftToTheBrowser(t *testing.T) {
	v := open(t, sampleTrace(t, "whole", 1))
	v.Eval(`window.held = 0; addEventListener('keydown', (event) => { if (event.key === 'Tab' && event.defaultPrevented) held++; });`, nil)
	var order []string
	for range 5 {
		v.Press("Tab")
		order = append(order, v.Text("document.activeElement.id || document.activeElement.dataset.call || document.activeElement.tagName"))
	}
	if got := strings.Join(order, " "); got != "tab-timeline search invoices/1 BODY tab-timeline" {
		t.Errorf("Tab goes to %s", got)
	}
	v.check("Tab", "held", "0")
	v.Press("Tab", "Tab", "j")
	v.check("the call behind the one that Tab has reached", focused, "invoices/2")
}

func TestTabsByKeyboard(t *testing.T) {
	v := open(t, sampleTrace(t, "whole", 1))
	v.Eval("document.querySelector('#tab-timeline').focus()", nil)
	for _, step := range []struct{ key, want string }{{"ArrowRight", "skills"}, {"End", "why"}, {"ArrowRight", "timeline"}, {"ArrowLeft", "why"}, {"Home", "timeline"}} {
		v.Press(step.key)
		v.check("after "+step.key, "document.querySelector('[role=tab][aria-selected=true]').id + ' ' + document.activeElement.id", "tab-"+step.want+" tab-"+step.want)
		v.check("after "+step.key, "[...document.querySelectorAll('[role=tabpanel]')].filter((p) => p.checkVisibility()).map((p) => p.id)", "panel-"+step.want)
	}
}

func TestMouse(t *testing.T) {
	v := open(t, sampleTrace(t, "whole", 1))
	v.Click(`#timeline [data-call="invoices/5"]`)
	v.Wait(opened + " === 'invoices/5'")
	v.check("the address", "location.hash", "#call=invoices%2F5")
	v.Eval("history.back()", nil)
	v.Wait(opened + " === undefined")
	v.Click("#tab-why")
	v.check("the panel", "document.querySelector('#why').checkVisibility()", "true")
	v.Click("#why [data-why=denied] a")
	v.Wait(opened + " === 'invoices/6'")
	v.Click("#call nav button:nth-child(3)")
	v.Wait(opened + " === 'invoices/7'")
	v.Click("#call nav button")
	v.Wait(opened + " === undefined")
	v.check("where it goes back to", "document.querySelector('#why').checkVisibility()", "true")
	v.check("the focus", "document.activeElement.closest('[data-why]').dataset.why", "denied")
}

func TestPermalinkOpensACall(t *testing.T) {
	v := open(t, sampleTrace(t, "whole", 1))
	v.Open("about:blank")
	v.Open(v.url + "#call=invoices%2F3")
	v.Wait(opened + " === 'invoices/3'")
	v.Eval("location.hash = '#call=nothing'", nil)
	v.Wait(opened + " === undefined")
	v.Eval("location.hash = '#call=%E0%A4%A'", nil)
	v.check("a broken address", "document.querySelector('#timeline').checkVisibility()", "true")
}

func TestSearch(t *testing.T) {
	v := open(t, sampleTrace(t, "whole", 1))
	v.Press("/")
	v.Type("MAIL")
	v.check("the hits", "[...document.querySelectorAll('#timeline [data-call]')].map((c) => c.dataset.call)", "invoices/6,invoices/7,invoices/8")
	v.check("the count", "document.querySelector('#hits').textContent", "3 of 10 calls")
	v.Press("Enter")
	v.check("Enter opens the first", opened, "invoices/6")
	v.Press("Escape")
	v.check("the focus", focused, "invoices/6")
	v.Press("/")
	v.Type("(no such text")
	v.check("nothing is found", "document.querySelector('#hits').textContent", "0 of 10 calls")
	v.Press("Enter")
	v.check("Enter", opened, "undefined")
	v.Press("Escape")
	v.check("the focus has left the search", "document.activeElement.tagName", "BODY")
	v.Click("#tab-why")
	v.Click("#search")
	v.Type("mail")
	v.check("a search shows the timeline", "document.querySelector('#timeline').checkVisibility() + document.activeElement.id", "truesearch")
	v.openCall("invoices/6")
	v.Click("#search")
	v.Type("s")
	v.check("a search closes the call", opened+" + document.activeElement.id + document.querySelector('#search').value", "undefinedsearchmails")
	v.Press("Escape")
	v.check("all calls are back", "document.querySelectorAll('#timeline [data-call]').length", "10")
}
