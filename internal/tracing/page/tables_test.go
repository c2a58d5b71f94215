//go:build unix

package page_test

import (
	"testing"

	"github.com/satchel-go/satchel/internal/tracing/line"
)

func TestSkills(t *testing.T) {
	v := open(t, sampleTrace(t, "whole", 1))
	v.Click("#tab-skills")
	for _, c := range []struct{ script, want string }{
		{"[...document.querySelectorAll('#skills tr[data-skill]')].map((r) => [r.dataset.skill, r.dataset.unused, r.dataset.wasted].join(' '))",
			"pdf false false,charts true false,guard false true,slides true false"},
		{"[...document.querySelectorAll('#skills tr[data-skill=pdf] td[data-col]')].map((c) => c.dataset.col + ' ' + c.dataset.value.slice(0, 6))",
			"offered 4,suggested 1,loaded 1,used 2,tokens 9270,share 0.2438"},
		{"document.querySelector('#skills tr[data-skill=guard]').textContent.includes('loaded, never used')", "true"},
	} {
		v.check("skills", c.script, c.want)
	}
	v.Click("#skills th button")
	v.check("sorted by name", "[...document.querySelectorAll('#skills tr[data-skill]')].map((r) => r.dataset.skill)", "charts,guard,pdf,slides")
	v.check("sorted by name", "document.querySelector('#skills th').getAttribute('aria-sort')", "ascending")
}

func TestWhy(t *testing.T) {
	v := open(t, sampleTrace(t, "whole", 1))
	v.Click("#tab-why")
	for kind, want := range map[string]string{
		"break":     "1,730 tokens were paid again, because texts of ended loads left message 3; --load-mode session keeps them, and --prices says when taking them out pays.",
		"denied":    "send_mail was denied, because allowed-tools of pdf does not list it; change allowed-tools, --policy.",
		"cut":       "The overview leaves out 2 skills, because its budget is spent; Overview.Tokens raises it, and Overview.Pinned puts skills first.",
		"not_found": "The model asked for taxes, and no skill has that name (near: tax-forms, pdf); --skills says where skills are, and --audience which of them are seen.",
	} {
		v.check(kind, "[...document.querySelectorAll('#why [data-why="+kind+"] p')].map((p) => p.textContent).join('|')", want)
		v.check(kind, "document.querySelectorAll('#why [data-why="+kind+"] code').length > 0", "true")
	}
}

// A trace of tool calls has turns without calls of a model. The timeline and Why show what happened in them.
func TestTurnWithoutCalls(t *testing.T) {
	r := newRecorder(t, "whole")
	r.turn = 1
	r.write(&line.Turn{Head: r.head(line.EventTurn), Prompt: "go"})
	r.write(&line.Loaded{Head: r.head(line.EventLoaded), Skill: "guard", Tokens: 8, By: "model"})
	r.write(&line.Decision{Head: r.head(line.EventDecision), ID: "c1", Name: "skill_run", Decision: "denied", Skill: "guard", Rule: "allowed-tools of guard"})
	r.write(&line.NotFound{Head: r.head(line.EventNotFound), ID: "c2", Name: "gard", Near: []string{"guard"}})
	v := open(t, r.trace())
	v.check("marks", "[...document.querySelectorAll('#timeline .turn [data-mark]')].map((m) => m.dataset.mark + ' ' + m.dataset.skill)", "denied guard,loaded guard")
	v.Click("#tab-why")
	v.check("reasons", "[...document.querySelectorAll('#why [data-why]')].map((e) => e.dataset.why + ' in ' + e.querySelector('.where').textContent)", "denied in turn 1,not_found in turn 1")
}
