//go:build unix

package page_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/internal/tracing/line"
)

func TestCall(t *testing.T) {
	v := open(t, sampleTrace(t, "whole", 1))
	v.openCall("invoices/6")
	for _, c := range []struct{ what, script, want string }{
		{"messages", "[...document.querySelectorAll('#call [data-message]')].map((m) => m.dataset.message + m.dataset.role[0] + m.dataset.new[0])",
			"0sf,1uf,2af,3tf,4af,5tf,6af,7uf,8af,9tf,10at,11tt"},
		{"text", "document.querySelector('#call [data-message=\"11\"] [data-text]').textContent", "exit 2\nno field is called \"total\""},
		{"messages without an element for their text", "document.querySelectorAll('#call [data-message]:not(:has([data-text]))').length", "0"},
		{"skill texts", "[...document.querySelectorAll('#call [data-skill-text]')].map((s) => [s.dataset.skillText, s.dataset.doc, s.dataset.loadedBy, s.dataset.leaves].join(' '))",
			"pdf  1 when it pays,pdf forms.md 4 turn"},
		{"tool calls", "[...document.querySelectorAll('#answer [data-tool-call]')].map((c) => c.dataset.toolCall)", "call_5,call_6"},
		{"verdicts", "[...document.querySelectorAll('#answer [data-verdict]')].map((d) => d.dataset.verdict + ' ' + d.dataset.skill + ' ' + d.dataset.rule)", "denied pdf allowed-tools of pdf"},
		{"a verdict in words", "document.querySelector('#answer [data-verdict]').textContent", "denied by allowed-tools of pdfit lists skill_run alone"},
		{"a skill that was not found", "document.querySelector('#answer .not_found').textContent", "no skill taxes, near: tax-forms, pdf"},
		{"the answer", "document.querySelector('#answer [data-text]').textContent", "I send the form by mail."},
	} {
		v.check(c.what, c.script, c.want)
	}
	v.openCall("invoices/10")
	v.check("an error", "document.querySelector('#answer [role=alert]').textContent", "the endpoint answered 503 Service Unavailable")
	v.Press("Escape")
	v.check("a closed call", "document.querySelector('#call')", "null")
}

func TestExport(t *testing.T) {
	v := open(t, sampleTrace(t, "whole", 1))
	v.openCall("invoices/2")
	v.Click("button#export")
	name, text := v.Download()
	var got struct {
		V       int
		Request struct {
			Messages []line.MessageValue
			Tools    []line.Tool
		}
		Answer line.Answer
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var values struct {
		Request struct{ Messages []json.RawMessage }
	}
	if err := json.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	for i, m := range got.Request.Messages { // as a line of the trace has it
		var compact bytes.Buffer
		if err := json.Compact(&compact, values.Request.Messages[i]); err != nil {
			t.Fatal(err)
		}
		if want, err := plainjson.Encode(m); err != nil || compact.String() != want {
			t.Errorf("message %d is %s, want %s (%v)", i, compact.String(), want, err)
		}
	}
	if name != "call-invoices-2.json" || got.V != 1 || len(got.Request.Messages) != 4 || len(got.Request.Tools) != 3 || got.Answer.PromptTokens != 3310 {
		t.Errorf("%s: version %d, %d messages, %d tools, answer %+v", name, got.V, len(got.Request.Messages), len(got.Request.Tools), got.Answer)
	}
	if m := got.Request.Messages[3]; m.Role != "tool" || m.ToolCallID != "call_1" || !strings.Contains(m.Content, "scripts/extract.py") {
		t.Errorf("message 3 is %+v", m)
	}
	if c := got.Request.Messages[2].ToolCalls; len(c) != 1 || c[0].Arguments != `{"name":"pdf"}` {
		t.Errorf("message 2 calls %+v", c)
	}
}

func TestAlternatives(t *testing.T) {
	r := newRecorder(t, "whole")
	r.begin("three answers")
	r.request(line.Parts{History: 1}, nil, says("user", "three answers"))
	load := []line.ToolCall{{ID: "call_1", Name: "skill_load", Arguments: `{"name":"pdf"}`}}
	r.write(&line.Answer{Head: r.head(line.EventAnswer), Text: "first", ToolCalls: load, Alternatives: []line.Alternative{{Text: "second", ToolCalls: []line.ToolCall{}}, {ToolCalls: load}}})
	v := open(t, r.trace())
	v.openCall("invoices/1")
	v.check("the alternatives", "[...document.querySelectorAll('#answer [data-alternative]')].map((a) => a.dataset.alternative + a.textContent)",
		`1Alternative 1second,2Alternative 2skill_loadcall_1{"name":"pdf"}`)
	v.check("the tool calls of the answer", "document.querySelectorAll('#answer [data-tool-call]').length", "1")
	v.check("a search", "sides[0].calls.filter(hitsOf('SECOND')).length", "1")
	v.Click("button#export")
	_, text := v.Download()
	var got struct{ Answer line.Answer }
	if err := json.Unmarshal(text, &got); err != nil || len(got.Answer.Alternatives) != 2 || got.Answer.Alternatives[0].Text != "second" || got.Answer.Alternatives[1].ToolCalls[0] != load[0] {
		t.Errorf("the export is %s, %v", text, err)
	}
}

func TestLongTextsShowTheirBeginning(t *testing.T) {
	r := newRecorder(t, "whole")
	long := strings.Repeat("é🙂\n", 300_000)
	r.begin("long")
	r.request(line.Parts{History: 1}, nil, says("user", "long"), says("tool", long), says("tool", strings.Repeat("x", 10<<20)))
	r.answer("done", 1, 0, 1)
	v := open(t, r.trace())
	v.openCall("invoices/1")
	text := `document.querySelector('#call [data-message="1"] [data-text]').textContent`
	v.check("bytes of the beginning", "new Blob(["+text+"]).size", "65536")
	v.check("the text is a beginning", "sides[0].messages[1].content.startsWith("+text+")", "true")
	v.Click(`#call [data-message="1"] button.all`)
	v.check("the whole text", text+" === sides[0].messages[1].content", "true")
	v.Click(`#call [data-message="2"] button.all`)
	v.check("the whole text", `document.querySelector('#call [data-message="2"] [data-text]').textContent.length`, "10485760")
}

func TestMediaAreNamed(t *testing.T) {
	r := newRecorder(t, "whole")
	r.begin("media")
	said := says("user", "What is this?")
	said.Media = []line.Media{{Kind: "image", Digest: "sha256:ab"}, {Kind: "file", Digest: "<b>\u202e"}}
	r.request(line.Parts{History: 1}, nil, said)
	r.answer("A cat.", 1, 0, 1)
	v := open(t, r.trace())
	v.openCall("invoices/1")
	v.check("media", `[...document.querySelectorAll('#call [data-message="0"] [data-media]')].map((m) => m.dataset.media + m.textContent).join()`, "imageimagesha256:ab,filefile<b>\u202e")
	v.check("the export", `JSON.stringify(exported(sides[0].calls[0]).request.messages[0].media[0])`, `{"kind":"image","digest":"sha256:ab"}`)
}

func TestTracesWithoutTexts(t *testing.T) {
	v := open(t, sampleTrace(t, "digests", 1))
	v.openCall("invoices/6")
	v.check("messages", "document.querySelectorAll('#call [data-message]').length", "12")
	v.check("a message", "document.querySelector('#call [data-message=\"11\"]').textContent", "11toolnew106 B, text not kept")
	v.check("a note", "document.querySelector('.note[role=note]').textContent", "Texts were not kept.")
}

func TestWhatATraceLacks(t *testing.T) {
	r := newRecorder(t, "none")
	r.begin("")
	r.write(&line.Call{Head: line.Head{Event: line.EventCall, Session: "s", Turn: 1, Call: 1}, Add: []string{}, Parts: line.Parts{History: 10}})
	r.write(&line.Dropped{Head: line.Head{Event: line.EventDropped}, Lines: 3})
	r.out.WriteString(`{"v":1,"event":"answer","seq":4,"time":"2026-11-2`)
	v := open(t, r.trace())
	v.check("a note", "document.querySelector('.note[role=note]').textContent",
		"1 line of the trace could not be read. 3 lines could not be written when it was recorded. Texts were not kept.")
	v.openCall("s/1")
	v.check("messages", "document.querySelector('#call [aria-label=Request] small').textContent", "messages are not kept in this trace")
	v.check("the answer", "document.querySelector('#answer .dim').textContent", "The trace has no answer to this call.")
}
