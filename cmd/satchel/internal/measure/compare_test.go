package measure

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

// The agent with Eino's middleware loads by its own tool, and what it was answered stays.
func TestCompareFollowsTheConversation(t *testing.T) {
	body := strings.Repeat("BODY OF PDF ", 50)
	skills := fstest.MapFS{
		"pdf/SKILL.md":           {Data: []byte("---\nname: pdf\ndescription: Reads PDF files.\n---\n" + body)},
		"pdf/references/form.md": {Data: []byte("DOC FORM")},
		"notes/readme.txt":       {Data: []byte("no skill")},
	}
	load := satcheltest.Message{Role: "assistant", Calls: []core.ToolCall{{ID: "1", Name: "skill_load", Arguments: `{"skill":"pdf"}`}}}
	docs := satcheltest.Message{Role: "assistant", Calls: []core.ToolCall{{ID: "2", Name: "skill_select_docs", Arguments: `{"skill":"pdf","docs":["references/form.md"]}`}}}
	first, second, third := exchange(1, "a"), exchange(2, "a"), exchange(3, "a")
	for i, e := range []*Exchange{&first, &second, &third} {
		e.Request.Tools = []core.Tool{{Name: "skill_load", Schema: json.RawMessage("{}")}, {Name: "skill_run", Description: "Runs.", Schema: json.RawMessage("{}")}}
		e.Request.Messages[0].Text = "<skill><name>pdf</name></skill>"
		if i > 0 {
			e.Request.Messages = append(e.Request.Messages, load, satcheltest.Message{Role: "tool", CallID: "1", Text: "loaded"})
		}
		if i > 1 {
			e.Request.Messages = append(e.Request.Messages, docs, satcheltest.Message{Role: "tool", CallID: "2", Text: "docs"})
		}
	}
	sent := []Exchange{first, second, third}
	shelf, err := readSkills(skills)
	if err != nil || len(shelf) != 1 {
		t.Fatalf("shelf %v, %v", shelf, err)
	}
	requests, err := einoRequests(t.Context(), shelf, "You help.", sent)
	if err != nil || len(requests) != 3 {
		t.Fatalf("%d requests, %v", len(requests), err)
	}
	last := requests[2].Messages
	if got := last[len(last)-1].Content; got != "DOC FORM" {
		t.Errorf("the answer about a doc is %q", got)
	}
	if got := last[3].Content; !strings.Contains(got, "BODY OF PDF") || last[2].Calls[0].Name != "skill" {
		t.Errorf("the call is %v, its answer %q", last[2].Calls, got)
	}
	var names []string
	for _, tool := range requests[0].Tools {
		names = append(names, tool.Name)
	}
	if !slices.Equal(names, []string{"skill", "read_file", "skill_run"}) {
		t.Errorf("tools %v", names)
	}
	c, err := Compare(t.Context(), skills, "You help.", sent, sent[:1])
	if err != nil || c.Skills != 1 || c.Text < 100 || c.Line == 0 || c.Line > 20 {
		t.Fatalf("comparison %+v, %v", c, err)
	}
	if c.Ways[1].Tokens >= c.Ways[0].Tokens || c.Ways[2].Tokens <= c.Ways[0].Tokens || c.Ways[2].Requests != 3 || c.Ways[2].Largest >= c.Ways[2].Tokens {
		t.Errorf("ways %+v", c.Ways)
	}
	var out bytes.Buffer
	Printer{Out: &out}.Comparison(c)
	if !strings.Contains(out.String(), "With 1 skill as small as these") {
		t.Errorf("printed %q", out.String())
	}
}
