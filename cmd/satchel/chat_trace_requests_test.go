package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/satchel-go/satchel/cmd/satchel/internal/measure"
	"github.com/satchel-go/satchel/internal/tracing/line"
	"github.com/satchel-go/satchel/satcheltest"
)

// tracedRequests is a trace with the requests that its lines describe.
type tracedRequests struct {
	events   []string
	messages map[string]line.MessageValue
	tools    map[string][]line.Tool
	calls    []line.Call
	requests [][]line.MessageValue // of calls
	last     map[string][]string   // digests of the last call of an agent
	answers  []line.Answer
	breaks   []line.Break
	loaded   []line.Loaded
	turns    []line.Turn
	ends     int
}

func parseRequests(t *testing.T, files ...string) *tracedRequests {
	t.Helper()
	r := &tracedRequests{messages: map[string]line.MessageValue{}, tools: map[string][]line.Tool{}, last: map[string][]string{}}
	seq := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
		clear(r.last)
		for i, l := range bytes.SplitAfter(text, []byte("\n")) {
			if len(l) == 0 {
				continue
			}
			var h line.Head
			must(t, json.Unmarshal(l, &h))
			if seq++; h.V != 1 || h.Seq != seq || h.Time.IsZero() || (i == 0) != (h.Event == line.EventTrace) {
				t.Errorf("%s: line %d is %s, want seq %d", file, i+1, l, seq)
			}
			r.add(t, h, l)
		}
	}
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (r *tracedRequests) add(t *testing.T, h line.Head, l []byte) {
	t.Helper()
	r.events = append(r.events, h.Event)
	name := h.Session + "/" + h.Agent
	if h.Call > 0 && h.Event != line.EventCall && len(r.last[name]) == 0 {
		t.Errorf("there is no call before %s", l)
	}
	switch h.Event {
	case line.EventMessage:
		var m line.Message
		var v line.MessageValue
		must(t, json.Unmarshal(l, &m))
		must(t, json.Unmarshal(m.Message, &v))
		r.messages[m.Digest] = v
	case line.EventTools:
		var m line.Tools
		var v []line.Tool
		must(t, json.Unmarshal(l, &m))
		must(t, json.Unmarshal(m.Tools, &v))
		r.tools[m.Digest] = v
	case line.EventCall:
		var c line.Call
		must(t, json.Unmarshal(l, &c))
		digests := append(slices.Clone(r.last[name][:c.Keep]), c.Add...)
		var request []line.MessageValue
		for _, d := range digests {
			m, ok := r.messages[d]
			if !ok {
				t.Errorf("no message has the digest %s of %s", d, l)
			}
			request = append(request, m)
		}
		if _, ok := r.tools[c.Tools]; !ok {
			t.Errorf("no tools for %s", l)
		}
		r.last[name], r.calls, r.requests = digests, append(r.calls, c), append(r.requests, request)
	case line.EventAnswer:
		r.answers = append(r.answers, decoded[line.Answer](t, l))
	case line.EventBreak:
		r.breaks = append(r.breaks, decoded[line.Break](t, l))
	case line.EventLoaded:
		r.loaded = append(r.loaded, decoded[line.Loaded](t, l))
	case line.EventTurn:
		r.turns = append(r.turns, decoded[line.Turn](t, l))
	case line.EventEnd:
		r.ends++
	}
}

func decoded[V any](t *testing.T, l []byte) (v V) {
	t.Helper()
	must(t, json.Unmarshal(l, &v))
	return v
}

// The trace has the requests that the endpoint got, and the numbers of cache-report.
func TestChatTraceHasTheRequests(t *testing.T) {
	skills := skillDir(t, map[string]string{
		"pdf/SKILL.md":            "---\nname: pdf\ndescription: Reads PDF files.\n---\nBODY OF PDF \u202e<script>\n" + strings.Repeat("Look at it twice.\n", 400),
		"pdf/references/forms.md": "DOC FORMS\n",
		"xlsx/SKILL.md":           "---\nname: xlsx\ndescription: Reads sheets.\n---\nBODY OF XLSX\n",
	})
	each(t, func(t *testing.T, flags ...string) {
		dir := t.TempDir()
		log, file := filepath.Join(dir, "requests.jsonl"), filepath.Join(dir, "trace.jsonl")
		turns := []satcheltest.Turn{
			{Steps: []satcheltest.Step{satcheltest.Load("pdf", "references/forms.md"), satcheltest.Load("no-such-skill")}, Answer: "0"},
			{Steps: []satcheltest.Step{satcheltest.Load("xlsx")}, Answer: "one"},
		}
		prompts := []string{"first", "second"}
		for i := range 12 {
			turns, prompts = append(turns, satcheltest.Turn{Answer: fmt.Sprint(i)}), append(prompts, fmt.Sprint("thanks ", i))
		}
		got := converse(t, plan(turns...), "", append(append(flags, "--system", "You help.", "--skills", skills, "--request-log", log, "--trace", file), prompts...)...)
		if got.code != 0 || got.err != "" {
			t.Fatalf("code %d, err %q", got.code, got.err)
		}
		tr := parseRequests(t, file)
		if len(tr.calls) != len(got.requests) || len(tr.answers) != len(got.requests) || len(tr.turns) != len(prompts) || tr.ends != 1 {
			t.Fatalf("%d calls, %d answers, %d turns, %d ends", len(tr.calls), len(tr.answers), len(tr.turns), tr.ends)
		}
		for i, q := range got.requests {
			var want []line.MessageValue
			for _, m := range q.Messages {
				v := line.MessageValue{Role: m.Role, Content: m.Text, ToolCalls: []line.ToolCall{}, ToolCallID: m.CallID}
				for _, c := range m.Calls {
					v.ToolCalls = append(v.ToolCalls, line.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
				}
				want = append(want, v)
			}
			if diff := cmp.Diff(want, tr.requests[i]); diff != "" {
				t.Fatalf("request %d: %s", i+1, diff)
			}
			if tr.calls[i].Call != i+1 || tr.calls[i].Agent != "" || tr.calls[i].Model != "scripted" {
				t.Errorf("%+v", tr.calls[i].Head)
			}
		}
		out := program(t, nil, "", "cache-report", "--json", log)
		var report measure.CacheReport
		must(t, json.Unmarshal([]byte(out.out), &report))
		sum, lost := 0, []int{}
		for _, c := range tr.calls {
			sum += c.Parts.Sum()
			texts := 0
			for _, text := range c.Texts {
				texts += text.Tokens
			}
			if texts != c.Parts.Skills+c.Parts.Docs {
				t.Errorf("texts have %d tokens, the parts are %+v", texts, c.Parts)
			}
		}
		for _, b := range tr.breaks {
			lost = append(lost, b.LostTokens)
		}
		var want []int
		for _, b := range report.Breaks {
			want = append(want, b.Lost)
		}
		if sum != report.Prompt || !slices.Equal(lost, want) || len(lost) == 0 {
			t.Errorf("%d tokens, want %d; breaks lose %d, want %d", sum, report.Prompt, lost, want)
		}
		if !slices.ContainsFunc(tr.loaded, func(l line.Loaded) bool { return l.Skill == "pdf" && l.Call == 1 && l.By == "model" && l.ID != "" }) {
			t.Errorf("loaded %+v", tr.loaded)
		}
		if second := tr.calls[1]; len(second.Texts) != 2 || second.Texts[0].LoadedBy != 1 || second.Texts[1].Doc != "references/forms.md" {
			t.Errorf("the second call has the texts %+v", second.Texts)
		}
	})
}
