//go:build unix

package page_test

import (
	"math"
	"testing"
)

func TestPageHasOneOfEach(t *testing.T) {
	v := open(t, sampleTrace(t, "whole", 1))
	for _, c := range []struct{ script, want string }{
		{"document.querySelectorAll('h1').length", "1"},
		{"document.querySelectorAll('main').length", "1"},
		{"document.querySelectorAll('[role=tablist]').length", "1"},
		{"[...document.querySelectorAll('[role=tab]')].map((tab) => tab.textContent)", "Timeline,Skills,Why"},
		{"document.documentElement.lang", "en"},
		{"document.title", "invoices.jsonl"},
		{"document.querySelectorAll('[role=tab][aria-selected=true]').length", "1"},
		{"[...document.querySelectorAll('[role=tabpanel]')].filter((p) => !p.hidden).map((p) => p.getAttribute('aria-labelledby'))", "tab-timeline"},
		{"[...document.querySelectorAll('[role=tab]')].every((tab) => document.getElementById(tab.getAttribute('aria-controls')).role === 'tabpanel')", "true"},
	} {
		v.check("the page", c.script, c.want)
	}
}

func TestTotals(t *testing.T) {
	v := open(t, sampleTrace(t, "whole", 1))
	for name, want := range map[string]string{
		"calls": "10", "turns": "4", "sessions": "1", "prompt_tokens": "34860", "cached_tokens": "27360", "completion_tokens": "415", "breaks": "1",
	} {
		v.check(name, "document.querySelector('[data-total="+name+"]').dataset.value", want)
	}
	v.check("estimated tokens are the sum of all parts",
		`Number(document.querySelector('[data-total=estimated_tokens]').dataset.value) ===
			[...document.querySelectorAll('#timeline [data-part]')].reduce((n, e) => n + Number(e.dataset.tokens), 0)`, "true")
}

func TestTimeline(t *testing.T) {
	v := open(t, sampleTrace(t, "whole", 1))
	for _, c := range []struct{ script, want string }{
		{"document.querySelector('#timeline').dataset.calls", "10"},
		{"[...document.querySelectorAll('#timeline [data-call]')].map((c) => c.dataset.call.slice(9))", "1,2,3,4,5,6,7,8,9,10"},
		{"[...document.querySelectorAll('#timeline [data-call]')].map((c) => c.dataset.turn)", "1,1,1,2,2,2,2,3,3,4"},
		{"Object.values({ ...document.querySelector('[data-call=\"invoices/2\"]').dataset })", "invoices/2,1,3310,1980,52"},
		{"[...document.querySelectorAll('[data-call=\"invoices/8\"] [data-mark]')].map((m) => m.dataset.mark + ' ' + m.dataset.skill)", "break ,loaded guard,unloaded pdf"},
		{"document.querySelector('[data-call=\"invoices/8\"]').ariaLabel.split('; ')[1]", "break, loaded guard, unloaded pdf"},
		{"[...document.querySelectorAll('[data-mark=denied]')].map((m) => m.closest('[data-call]').dataset.call + ' ' + m.dataset.skill)", "invoices/6 pdf"},
		{"[...document.querySelectorAll('[data-mark=run]')].map((m) => m.dataset.skill + ': ' + m.textContent)", "pdf: ▸run pdf,pdf: ▸run pdf exit 2"},
		{"[...document.querySelectorAll('[data-call=\"invoices/5\"] [data-part]')].map((p) => p.dataset.part + ' ' + p.dataset.tokens)", "tools 690,system 420,overview 760,history 940,skills 1240,docs 610"},
	} {
		v.check("the timeline", c.script, c.want)
	}
}

func TestBarsAreToScale(t *testing.T) {
	for _, width := range []int{1280, 400} {
		v := open(t, sampleTrace(t, "whole", 1))
		v.Resize(width, 900)
		var pieces []struct{ Tokens, Width float64 }
		v.Eval("[...document.querySelectorAll('#timeline [data-part]')].map((p) => ({ tokens: Number(p.dataset.tokens), width: p.getBoundingClientRect().width }))", &pieces)
		var room float64
		v.Eval("document.querySelector('#timeline .bar').getBoundingClientRect().width", &room)
		longest := 5010.0
		for _, p := range pieces {
			if want := p.Tokens / longest * room; math.Abs(p.Width-want) > 0.6 {
				t.Errorf("at %d pixels a part of %v tokens is %v pixels wide, want %v", width, p.Tokens, p.Width, want)
			}
		}
		if len(pieces) != 60 {
			t.Errorf("there are %d parts, want 60", len(pieces))
		}
		v.check("the cached part", `(() => {
			const bar = document.querySelector('[data-call="invoices/2"] .bar');
			const width = (e) => e.getBoundingClientRect().width;
			const parts = [...bar.querySelectorAll('[data-part]')].reduce((n, e) => n + width(e), 0);
			return Math.abs(width(bar.querySelector('[data-cache=cached]')) - parts * 1980 / 3310) < 1 && bar.querySelector('[data-cache=written]').dataset.tokens;
		})()`, "1330")
	}
}
