//go:build unix

package page_test

import (
	"testing"

	"github.com/satchel-go/satchel/internal/tracing/line"
	"github.com/satchel-go/satchel/internal/tracing/tracelog"
)

// agentsTrace has two sessions, and a skill that runs as an agent of its own in a turn of the first.
func agentsTrace(t testing.TB) *tracelog.Trace {
	r := newRecorder(t, "whole")
	parts := line.Parts{System: 300, Tools: 500, History: 200}
	r.begin("Review the change")
	r.request(parts, nil, says("user", "Review the change"))
	r.answer("", 1000, 0, 30, line.ToolCall{ID: "c1", Name: "skill_load", Arguments: `{"name":"reviewer"}`})
	r.agent, r.fork, r.call = "/fork:reviewer#1", "reviewer", 0
	for range 2 {
		r.request(line.Parts{System: 900, Tools: 400}, nil, says("user", "You are a reviewer"))
		r.answer("Looks good", 1300, 1200, 12)
	}
	r.agent, r.fork, r.call = "", "", 1
	r.request(parts, nil, says("user", "Review the change"), answers("c1", "Looks good"))
	r.answer("The reviewer likes it.", 1100, 1000, 9)
	r.session, r.turn, r.call = "second", 0, 0
	r.begin("Another conversation")
	r.request(parts, nil, says("user", "Another conversation"))
	r.answer("Yes?", 1000, 0, 3)
	r.agent, r.turn, r.call = "helper", 0, 0
	r.begin("For the helper")
	r.request(parts, nil, says("user", "For the helper"))
	r.answer("Done", 1000, 0, 3)
	return r.trace()
}

func TestAgents(t *testing.T) {
	v := open(t, agentsTrace(t))
	for _, c := range []struct{ script, want string }{
		{"[...document.querySelectorAll('#timeline [data-call]')].map((c) => c.dataset.call)",
			"invoices/1,invoices//fork:reviewer#1/1,invoices//fork:reviewer#1/2,invoices/2,second/1,second/helper/1"},
		{"[...document.querySelectorAll('#timeline [data-call]')].map((c) => c.dataset.turn)", "1,1,1,1,1,1"},
		{"[...document.querySelectorAll('#timeline .row.session')].map((r) => r.textContent)", "Session invoices,Session second,Session second/helper"},
		{"[...document.querySelectorAll('#timeline .fork')].map((f) => f.textContent)", "fork reviewer,fork reviewer"},
		{"document.querySelector('[data-total=calls]').dataset.value + document.querySelector('[data-total=turns]').dataset.value", "63"},
	} {
		v.check("agents", c.script, c.want)
	}
	v.openCall("invoices//fork:reviewer#1/2")
	v.check("nothing is new", "document.querySelectorAll('#call [data-new=true]').length", "0")
	v.check("the fork", "document.querySelector('#call h2').textContent.includes('fork reviewer')", "true")
	v.Resize(400, 900)
	v.check("what stands outside", outside, "")
}
