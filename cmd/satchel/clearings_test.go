package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/measure"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

// shown is a request with the result of a load.
func shown(session, text string, prompts ...string) string {
	messages := []map[string]any{
		{"role": "user", "content": "go"},
		{"role": "assistant", "tool_calls": []any{map[string]any{"id": "1", "type": "function", "function": map[string]any{"name": "skill_load", "arguments": "{}"}}}},
		{"role": "tool", "tool_call_id": "1", "content": "loaded: pdf\n" + text},
	}
	for _, p := range prompts {
		messages = append(messages, map[string]any{"role": "user", "content": p})
	}
	line, err := json.Marshal(map[string]any{"session": session, "messages": messages})
	if err != nil {
		panic(err)
	}
	return string(line) + "\n"
}

// cleared is the line of an event.
func cleared(session string) string {
	line, err := json.Marshal(core.Event{
		Kind: core.TextCleared, Key: core.SessionKey{Session: session}, Turn: 2, Skill: "pdf", Docs: []string{"a.md"},
		Cause: "rent", Tokens: 900, Rent: 1520.4, Price: 1010.2, Chance: 0.125,
	})
	if err != nil {
		panic(err)
	}
	return string(line) + "\n"
}

const pdfText = "<skill name=\"pdf\">\nBODY OF PDF\n</skill>\n<skill_doc skill=\"pdf\" path=\"a.md\">\nDOC\n</skill_doc>"

func TestCacheReportSaysWhyTextsWereCleared(t *testing.T) {
	begun := `{"Kind":"turn.begun","Key":{"Session":"s"},"Turn":2}` + "\n"
	const why = "turn 2: the text of pdf (a.md) was cleared, 900 tokens, because of rent: rent 1520, price of coming back 1010, chance 0.12\n"
	const unknown = "  line 2, turn 2: the text of pdf (a.md) left, 4 tokens; the log does not say why\n  add the events"
	for name, tt := range map[string]struct{ log, want, not, err string }{
		"events":              {shown("s", pdfText) + begun + cleared("s") + shown("s", "", "next"), "  line 4, " + why, "does not say", ""},
		"no names":            {shown("", pdfText) + cleared("s") + shown("", "", "next"), "  line 3, " + why, "does not say", ""},
		"event at the end":    {shown("s", pdfText) + cleared("s"), "  after the last line, " + why, "does not say", ""},
		"no events":           {shown("s", pdfText) + shown("s", "", "next"), unknown, "was cleared", ""},
		"another text":        {shown("s", strings.ReplaceAll(pdfText, "pdf", "xlsx")) + cleared("s") + shown("s", "", "next"), "the text of xlsx (a.md) left", "", ""},
		"nothing left":        {shown("s", pdfText) + shown("s", pdfText, "next"), "prefix breaks 0", "text of", ""},
		"the host cut it":     {shown("s", pdfText) + logLine("s", "x", "next"), "prefix breaks 1", "text of", ""},
		"of another session":  {shown("s", pdfText) + cleared("t"), "prefix breaks 0", "text of", `satchel: 1 event of sessions that no request names, such as "t"`},
		"of another's helper": {shown("t/h", pdfText) + strings.Replace(cleared("t"), `"Agent":""`, `"Agent":"h"`, 1) + shown("t/h", "", "next"), "  line 3, " + why, "", ""},
	} {
		got := program(t, nil, tt.log, "cache-report", "-")
		if got.code != 0 || !strings.Contains(got.out, tt.want) || tt.not != "" && strings.Contains(got.out, tt.not) || strings.TrimSpace(got.err) != tt.err {
			t.Errorf("%s: code %d, output lacks %q or has %q:\n%s%s", name, got.code, tt.want, tt.not, got.out, got.err)
		}
	}
}

func TestCacheReportOfClearingsJSON(t *testing.T) {
	got := program(t, nil, shown("s", pdfText)+cleared("s")+shown("s", "", "next"), "cache-report", "--json", "-")
	want := `"clearings":[{"line":3,"turn":2,"skill":"pdf","docs":["a.md"],"tokens":900,"why":{"cause":"rent","rent":1520.4,"price":1010.2,"chance":0.125}}]`
	if got.code != 0 || !strings.Contains(got.out, want) {
		t.Errorf("code %d, output lacks %s:\n%s%s", got.code, want, got.out, got.err)
	}
	got = program(t, nil, shown("s", pdfText)+shown("s", "", "next"), "cache-report", "--json", "-")
	want = `"clearings":[{"line":2,"turn":2,"skill":"pdf","docs":["a.md"],"tokens":4}]`
	if got.code != 0 || !strings.Contains(got.out, want) {
		t.Errorf("code %d, output lacks %s:\n%s%s", got.code, want, got.out, got.err)
	}
}

// What --request-log writes is enough for the reasons of all clearings.
func TestChatLogsRequestsForTheReport(t *testing.T) {
	skills := skillDir(t, map[string]string{
		"pdf/SKILL.md": "---\nname: pdf\ndescription: Reads PDF files.\n---\nBODY OF PDF\n" + strings.Repeat("Look at it twice.\n", 400),
	})
	each(t, func(t *testing.T, flags ...string) {
		log := filepath.Join(t.TempDir(), "requests.jsonl")
		turns := []satcheltest.Turn{{Steps: []satcheltest.Step{satcheltest.Load("pdf")}, Answer: "0"}}
		prompts := []string{"first"}
		for i := range 12 {
			turns, prompts = append(turns, satcheltest.Turn{Answer: fmt.Sprint(i)}), append(prompts, fmt.Sprint("thanks ", i))
		}
		got := converse(t, plan(turns...), "", append(append(flags, "--skills", skills, "--request-log", log), prompts...)...)
		if got.code != 0 {
			t.Fatalf("code %d, err %q", got.code, got.err)
		}
		if info, err := os.Stat(log); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%v, %v", info, err)
		}
		out := program(t, nil, "", "cache-report", "--json", log)
		var report measure.CacheReport
		if err := json.Unmarshal([]byte(out.out), &report); err != nil {
			t.Fatalf("%v: %s%s", err, out.out, out.err)
		}
		if report.Requests != len(got.requests) || report.Conversation == "" || len(report.Clearings) != 1 {
			t.Fatalf("%d requests of %d, %q, clearings %+v", report.Requests, len(got.requests), report.Conversation, report.Clearings)
		}
		c := report.Clearings[0]
		if c.Skill != "pdf" || c.Turn < 2 || c.Line < 3 || c.Tokens < 1500 || c.Why == nil || c.Why.Price <= 0 || c.Why.Chance <= 0 {
			t.Errorf("%+v, %+v", c, c.Why)
		}
	})
}

func TestRequestLogThatCannotBeOpened(t *testing.T) {
	got := converse(t, steps(), "", "chat", "--request-log", t.TempDir(), "hi")
	if got.code == 0 || !strings.Contains(got.err, "--request-log: ") || len(got.requests) > 0 {
		t.Errorf("code %d, err %q", got.code, got.err)
	}
}
