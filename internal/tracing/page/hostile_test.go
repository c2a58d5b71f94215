//go:build unix

package page_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/tracing/line"
	"github.com/satchel-go/satchel/internal/tracing/page"
	"github.com/satchel-go/satchel/internal/tracing/tracelog"
)

// hostile is a text that would run, leave the page or turn its direction where a text is more than
// data.
const hostile = "</script><script>window.ran = 1</script><img src=x onerror='window.ran = 2'><!--<script>" +
	"[link](javascript:window.ran=3) https://example.com/leave <a href='https://example.com/'>x</a>\u202Egnp.exe\u2066\u2028 \" onclick=\"window.ran=4"

// hostileTrace is a trace whose texts and names are all hostile.
func hostileTrace(t testing.TB) *tracelog.Trace {
	r := newRecorder(t, "whole")
	r.session = "s" + hostile
	r.begin(hostile)
	r.request(line.Parts{System: 10, Skills: 20}, []line.Text{{Skill: hostile, Doc: hostile, Message: 1, LoadedBy: 1, Mode: hostile, Tokens: 20, Leaves: hostile}},
		says("system", hostile), says(hostile, hostile), answers(hostile, hostile), calls(hostile, hostile, hostile))
	r.write(&line.Offered{Head: r.head(line.EventOffered), Skills: []string{hostile}, Named: []string{hostile}, Cut: 1})
	r.write(&line.Suggested{Head: r.head(line.EventSuggested), Skills: []string{hostile}})
	odd := []line.ToolCall{{ID: hostile, Name: hostile, Arguments: hostile}}
	r.write(&line.Answer{Head: r.head(line.EventAnswer), Text: hostile, ToolCalls: odd, Alternatives: []line.Alternative{{Text: hostile, ToolCalls: odd}}})
	r.write(&line.Decision{Head: r.head(line.EventDecision), ID: hostile, Name: hostile, Decision: "denied", Skill: hostile, Rule: hostile, Reason: hostile})
	r.write(&line.Approval{Head: r.head(line.EventApproval), ID: hostile, Name: hostile, Reason: hostile})
	r.write(&line.Loaded{Head: r.head(line.EventLoaded), Skill: hostile, By: hostile, ID: hostile})
	r.write(&line.Unloaded{Head: r.head(line.EventUnloaded), Skill: hostile, Why: hostile})
	r.write(&line.Cleared{Head: r.head(line.EventCleared), Skill: hostile, Doc: hostile, Why: hostile})
	r.write(&line.Run{Head: r.head(line.EventRun), ID: hostile, Skill: hostile, Command: hostile, Files: []line.File{{Path: hostile}}, Limits: map[string]int64{hostile: 1}})
	r.write(&line.Used{Head: r.head(line.EventUsed), Skill: hostile, How: hostile})
	r.write(&line.NotFound{Head: r.head(line.EventNotFound), ID: hostile, Name: hostile, Near: []string{hostile}})
	r.write(&line.Break{Head: r.head(line.EventBreak), Message: 1, LostTokens: 3, Cause: hostile})
	r.request(line.Parts{System: 10}, nil, says("system", hostile))
	r.write(&line.Error{Head: r.head(line.EventError), Error: hostile})
	return r.trace()
}

func TestHostileTextsAreData(t *testing.T) {
	v := open(t, hostileTrace(t), page.Section{ID: "trials", Title: hostile, Tables: []page.Table{{
		Caption: hostile, Columns: []string{hostile}, Rows: []page.Row{{Data: map[string]string{"data-trial": hostile}, Cells: []page.Cell{{Text: hostile}}}},
	}}})
	name := v.Text("sides[0].calls[0].name")
	for _, hash := range []string{"", "#tab=timeline", "#tab=skills", "#tab=why", "#call"} {
		if hash == "#call" {
			v.openCall(name)
		} else {
			v.Eval("location.hash = '"+hash+"'", nil)
		}
		v.Wait("viewer.followed === location.hash")
		v.check("nothing ran in "+hash, "window.ran", "undefined")
		v.check("elements of the texts in "+hash, "document.querySelectorAll('img, body script:not([type]):not(:last-of-type), a[href^=javascript], a[href^=http]').length", "0")
		v.check("texts that can turn others in "+hash, `(() => {
			const found = [];
			const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
			while (walker.nextNode()) {
				const e = walker.currentNode.parentElement;
				if (e.closest('script') || !/[\u202a-\u202e\u2066-\u2069]/.test(walker.currentNode.data)) continue;
				if (!e.closest('.block, .foreign') || getComputedStyle(e.closest('.foreign')).unicodeBidi !== 'isolate') found.push(e.outerHTML.slice(0, 200));
			}
			return found.join('\n');
		})()`, "")
	}
	v.check("the text of a message", `document.querySelector('#call [data-message="0"] [data-text]').textContent === sides[0].messages[0].content`, "true")
	v.Click("#call [data-message='0'] [data-text]")
	v.check("the page after a click", "location.href.startsWith('file:')", "true")
}

func TestNothingElseRuns(t *testing.T) {
	v := open(t, sampleTrace(t, "whole", 1))
	v.Eval(`window.violations = 0; document.addEventListener('securitypolicyviolation', () => violations++);`, nil)
	v.Eval(`const added = document.createElement('script'); added.textContent = 'window.ran = 1'; document.body.append(added);`, nil)
	v.Eval(`const styled = document.createElement('style'); styled.textContent = 'h1 { color: red }'; document.head.append(styled);`, nil)
	v.Eval(`const picture = new Image(); picture.src = 'https://example.com/x.png'; document.body.append(picture);`, nil)
	v.Eval(`fetch('https://example.com/').catch(() => {})`, nil)
	v.Wait("violations >= 4")
	v.check("an added script", "window.ran", "undefined")
	v.Open(v.url) // without what this test did
}

func TestWrittenPage(t *testing.T) {
	var out bytes.Buffer
	if err := page.Write(&out, "a </title> b", hostileTrace(t)); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)
	if policy == nil || policy[1] != page.Policy() || !strings.HasPrefix(policy[1], "default-src 'none'; script-src 'sha256-") {
		t.Errorf("the policy is %q", policy)
	}
	scripts := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(text, -1)
	if len(scripts) != 1 {
		t.Fatalf("the page has %d scripts, want 1", len(scripts))
	}
	script := scripts[0][1]
	sum := sha256.Sum256([]byte(script))
	if hash := base64.StdEncoding.EncodeToString(sum[:]); !strings.Contains(page.Policy(), "script-src 'sha256-"+hash+"'") {
		t.Errorf("the policy %s lacks the hash %s", page.Policy(), hash)
	}
	if len(script) >= 60_000 {
		t.Errorf("the script has %d bytes, want fewer than 60000", len(script))
	}
	for line := range strings.Lines(script) {
		if len(line) > 400 {
			t.Errorf("a line of %d bytes: %.80s", len(line), line)
		}
	}
	for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "http:", "https:"} {
		if strings.Contains(script, word) {
			t.Errorf("the script has %s", word)
		}
	}
	if got := strings.Count(text, "</script>"); got != 2 {
		t.Errorf("the page has %d ends of scripts, want 2", got)
	}
	if strings.Contains(text, "\u202e") || strings.Contains(text, "</title> b") {
		t.Error("a text of the trace stands in the page unescaped")
	}
}
