package librarychattest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/tools"
)

func list(t *testing.T, open Open) {
	p, _ := plugin(t, "pdf", "---\nname: pdf\ndescription: Read PDF files.\n---\nRead.\n")
	w := newWorld(t, open, setup{plugins: []library.Plugin{p}, files: fstest.MapFS{"web/SKILL.md": {Data: []byte("---\nname: web\ndescription: Look.\n---\nLook.\n")}}})
	w.shared("forms", form)
	w.shared("hidden", "---\nname: hidden\ndescription: Hidden.\ndisable-model-invocation: true\n---\nX.\n")
	for range 2 {
		got := w.run(`{"action":"list"}`)
		if names(got) != "forms pdf web" {
			t.Errorf("list is %v", got)
		}
		want(t, got, "action=list", "total=3", "nextCursor=<nil>")
	}
	want(t, w.run(`files-reader`), "error=unknown", `message=unknown skill "files-reader": did you mean "pdf"?`)
	if got := w.run(`{}`); names(got) != "forms pdf web" {
		t.Errorf("{} lists %v", got)
	}
	got := w.run(`{"action":"list","source":"plugin","query":"pdf","limit":1}`)
	if names(got) != "pdf" {
		t.Errorf("plugins are %v", got)
	}
	seen := ""
	for cursor, n := "", 0; n < 10; n++ {
		page := w.run(args{"action": "list", "limit": 1, "cursor": cursor})
		seen += names(page) + " "
		if page["nextCursor"] == nil {
			break
		}
		cursor = page["nextCursor"].(string)
		if n == 0 {
			w.shared("aaa", "---\nname: aaa\ndescription: First.\n---\nX.\n")
			w.shared("forms-2", "---\nname: forms-2\ndescription: Next.\n---\nX.\n")
		}
	}
	if seen != "forms forms-2 pdf web " {
		t.Errorf("pages are %s", seen)
	}
	want(t, w.run(`{"skill":"hidden"}`), "error=blocked", `message=skill "hidden" may not be started by a model (disable-model-invocation); ask the user to start it`)
	want(t, w.run(`form`), "error=unknown", `message=unknown skill "form": did you mean "forms" or "forms-2"?`)
}

func runDelivers(t *testing.T, open Open) {
	w := newWorld(t, open, setup{})
	w.shared("forms", form)
	for _, m := range w.chat.View() {
		if strings.Contains(m.Text, "forms") {
			t.Errorf("a request names a skill before anybody asked: %q", m.Text)
		}
	}
	got := w.run("forms")
	want(t, got, "action=run", "status=loaded", "name=forms", "part=1", "parts=1")
	if last := lastOf(w.chat.View()); !strings.Contains(last, "Use the form tool.\nThen save it.") {
		t.Errorf("the request after it shows %q", last)
	}
	first := w.chat.View()
	inspected := w.run(`{"action":"inspect","skill":"forms"}`)
	want(t, inspected, "content="+form, "sha256="+digestOf(form), "reviewed=true", "firstLine=1", "totalLines=10")
	for i, line := range strings.Split(strings.TrimSuffix(inspected["contentWithLineNumbers"].(string), "\n"), "\n") {
		if want := fmt.Sprintf("%6d\t%s", i+1, strings.Split(form, "\n")[i]); line != want {
			t.Errorf("numbered line is %q, want %q", line, want)
		}
	}
	ref := inspected["versionRef"].(string)
	w.update(args{"action": "patch", "skill": "forms", "expectedVersionRef": ref, "edits": []args{{"oldText": "the form tool", "newText": "a form tool"}}})
	for i, m := range w.chat.View()[:len(first)] {
		if m.Text != first[i].Text {
			t.Errorf("an edit has changed message %d: %q, was %q", i, m.Text, first[i].Text)
		}
	}
	again := w.run("forms")
	if last := lastOf(w.chat.View()); !strings.Contains(last, "Use a form tool.") {
		t.Errorf("the new text is not shown: %v %q", again, last)
	}
}

func longTexts(t *testing.T, open Open) {
	w := newWorld(t, open, setup{})
	var b strings.Builder
	for n := 0; b.Len() < 100<<10; n++ {
		fmt.Fprintf(&b, "Line %d of a long “text”.\n", n)
	}
	b.WriteString(strings.Repeat("x", 100<<10) + "\n")
	for n := 0; b.Len() < 300<<10; n++ {
		fmt.Fprintf(&b, "Line %d again.\n", n)
	}
	body := strings.TrimSpace(b.String())
	text := "---\nname: long\ndescription: Long.\n---\n" + body + "\n"
	w.shared("long", text)
	for _, view := range []string{"raw", "numbered", "both"} {
		whole, sum := "", ""
		for part, parts := 1, 1; part <= parts; part++ {
			got := w.run(args{"action": "inspect", "skill": "long", "view": view, "part": part})
			if got["error"] != nil {
				t.Fatal(got)
			}
			parts, sum = int(got["parts"].(float64)), got["sha256"].(string)
			if c, ok := got["content"].(string); ok {
				whole += c
				if len(c) > 48<<10 {
					t.Errorf("a part has %d bytes", len(c))
				}
			}
			if (part < parts) != (got["next"] != nil) {
				t.Errorf("part %d of %d says %v", part, parts, got["next"])
			}
		}
		if view != "numbered" && (whole != text || digestOf(whole) != sum) {
			t.Errorf("parts of view %s do not give the text with the digest %s", view, sum)
		}
	}
	want(t, w.run(`{"action":"inspect","skill":"long","part":400}`), "error=invalid")
	got := w.run(args{"skill": "long"})
	parts := int(got["parts"].(float64))
	view := w.chat.View()
	first := lastOf(view)
	whole := ""
	for part := 2; part <= parts; part++ {
		if got := w.run(args{"skill": "long", "part": part}); got["error"] != nil || got["text"] != nil {
			t.Fatal(got)
		}
	}
	for i, m := range w.chat.View() {
		if i < len(view) && m.Text != view[i].Text {
			t.Errorf("message %d has changed", i)
		}
		whole += m.Text
	}
	for _, piece := range []string{"Line 0 of a long “text”.", strings.Repeat("x", 40<<10), "Line 0 again.", strings.TrimSpace(body[len(body)-200:])} {
		if !strings.Contains(whole, piece) {
			t.Errorf("the view lacks %.60q", piece)
		}
	}
	if strings.Contains(whole, "truncated") || !strings.Contains(first, "Line 0 of a long “text”.") {
		t.Error("part 1 is not whole")
	}
}

// largestText checks that the content budget is enough to read each part of the largest text and to
// run each skill, although the vocabulary has no tool to unload.
func largestText(t *testing.T, open Open) {
	w := newWorld(t, open, setup{budget: tools.Budget{Warn: 10_000, Max: 64_000}})
	front := "---\nname: large\ndescription: Large.\n---\n"
	var b strings.Builder
	b.WriteString(front)
	for n := 0; b.Len() < 512<<10-64; n++ {
		fmt.Fprintf(&b, "Line %d is one of a very long text.\n", n)
	}
	text := b.String()
	w.shared("large", text)
	whole := ""
	for part, parts := 1, 1; part <= parts; part++ {
		got := w.run(args{"skill": "large", "part": part})
		want(t, got, "status=loaded", fmt.Sprint("part=", part))
		if got["status"] == nil {
			return
		}
		parts = int(got["parts"].(float64))
		view := w.chat.View()
		shown, size := lastOf(view), 0
		for _, m := range view {
			size += len(m.Text)
		}
		if size > 64_000*4 {
			t.Errorf("with part %d the view has %d bytes", part, size)
		}
		from, to := strings.Index(shown, "Line "), strings.LastIndex(shown, " long text.\n")
		if from < 0 || to < from {
			t.Fatalf("part %d is shown as %.300q", part, shown)
		}
		whole += shown[from : to+len(" long text.\n")]
		if strings.Contains(fmt.Sprint(got), "unload") {
			t.Errorf("part %d advises %v", part, got["warnings"])
		}
	}
	if whole != strings.TrimPrefix(text, front) {
		t.Errorf("the parts have %d bytes of %d", len(whole), len(text)-len(front))
	}
	for n := range 7 {
		name := fmt.Sprint("other-", n)
		w.shared(name, strings.Replace(text[:60<<10], "name: large", "name: "+name, 1)+"\n")
		want(t, w.run(args{"skill": name}), "status=loaded")
	}
	w.shared("small", strings.Replace(form, "forms", "small", 1))
	want(t, w.run("small"), "status=loaded")
	tight := newWorld(t, open, setup{budget: tools.Budget{Warn: 100, Max: 1000}})
	tight.shared("large", text)
	got := tight.run("large")
	if want(t, got, "error=invalid"); !strings.Contains(fmt.Sprint(got["message"]), "at most 1000 may be: inspect it instead") {
		t.Errorf("a text that never fits: %v", got)
	}
}

func parameters(t *testing.T, open Open) {
	w := newWorld(t, open, setup{})
	w.shared("report", `---
name: report
description: Write a report.
metadata:
  parameters: [{name: region, required: true}, {name: format, type: enum, values: [csv, pdf], default: csv}]
---
For {{region}} as {{format}}, not {{other}}.
`)
	want(t, w.run(`{"skill":"report"}`), "error=invalid", `message=parameter "region" is missing; parameters are region (required), format (default "csv")`)
	want(t, w.run(`{"skill":"report","parameters":{"region":"x","format":"doc"}}`), "error=invalid")
	got := w.run(`{"skill":"report","parameters":{"region":"{{format}}","more":1}}`)
	want(t, got, "status=loaded", `warnings=[the skill has no parameter "more"]`)
	if last := lastOf(w.chat.View()); !strings.Contains(last, "For {{format}} as csv, not {{other}}.") {
		t.Errorf("rendered as %q", last)
	}
	long := w.run(args{"skill": "report", "parameters": args{"region": strings.Repeat("x", 70_000)}})
	want(t, long, "status=loaded", "parameters=map[]")
	if !strings.Contains(fmt.Sprint(long["warnings"]), "parameters are long: they are in the text") {
		t.Errorf("long parameters are answered %v", long)
	}
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
