package measure

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

func all(log, key string) (entries []Entry, err error) {
	for e, err := range ReadLog(strings.NewReader(log), key) {
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func TestRead(t *testing.T) {
	log := "\ufeff" + `{"model":"m","user":"u-1","messages":[{"role":"system","content":"You help."},{"role":"user","content":[{"type":"text","text":"look: "},{"type":"image_url","image_url":{"url":"data:x"}},{"type":"text","text":" and"}]}],"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}},{"type":"web_search"}]}

{"custom_id":"1","session_id":7,"timestamp":1790000000.5,"body":{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"ok"}]},"response":{"body":{"usage":{"prompt_tokens":50,"prompt_tokens_details":{"cached_tokens":20}}}}}
{"time":"2026-10-01T10:00:00+02:00","request":{"conversation_id":"c-9","functions":[{"name":"g","description":""}],"messages":[{"role":"assistant","function_call":{"name":"g","arguments":"1"}}]}}
`
	got, err := all(log, "")
	if err != nil {
		t.Fatal(err)
	}
	image := got[0].Request.Messages[1].Media
	want := []Entry{
		{Line: 1, Key: "u-1", Request: prompt.Request{
			Tools:    []prompt.Tool{{Name: "f", Description: "d", Parameters: []byte(`{"type":"object"}`)}, {Name: "web_search", Parameters: []byte(`{"type":"web_search"}`)}},
			Messages: []prompt.Message{{Role: "system", Content: "You help."}, {Role: "user", Content: "look:  and", Media: image}},
		}},
		{Line: 3, Key: "7", At: time.Unix(1790000000, 5e8), Prompt: 50, Cached: 20, Request: prompt.Request{
			Messages: []prompt.Message{
				{Role: "assistant", Calls: []prompt.Call{{ID: "c", Name: "f", Arguments: "{}"}}},
				{Role: "tool", Content: "ok", CallID: "c"},
			},
		}},
		{Line: 4, Key: "c-9", At: got[2].At, Request: prompt.Request{
			Tools:    []prompt.Tool{{Name: "g"}},
			Messages: []prompt.Message{{Role: "assistant", Calls: []prompt.Call{{Name: "g", Arguments: "1"}}}},
		}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%+v\nwant\n%+v", got, want)
	}
	if !got[2].At.Equal(time.Date(2026, 10, 1, 8, 0, 0, 0, time.UTC)) {
		t.Errorf("time %v", got[2].At)
	}
}

// The same conversation is read from each of the three formats.
func TestFormats(t *testing.T) {
	want := prompt.Request{
		Tools: []prompt.Tool{{Name: "f", Description: "d", Parameters: []byte(`{"type":"object"}`)}},
		Messages: []prompt.Message{
			{Role: "system", Content: "You help."},
			{Role: "user", Content: "hi"},
			{Role: "assistant", Content: "let me see", Calls: []prompt.Call{{ID: "c", Name: "f", Arguments: `{"a":1}`}}},
			{Role: "tool", Content: "ok", CallID: "c"},
			{Role: "user", Content: "and?"},
		},
	}
	split := want // in the responses API a call is an item of its own, beside the text
	split.Messages = []prompt.Message{want.Messages[0], want.Messages[1],
		{Role: "assistant", Content: "let me see"}, {Role: "assistant", Calls: want.Messages[2].Calls}, want.Messages[3], want.Messages[4]}
	for name, tt := range map[string]struct {
		line string
		want prompt.Request
	}{
		"chat completions": {`{"messages":[{"role":"system","content":"You help."},{"role":"user","content":"hi"},
			{"role":"assistant","content":"let me see","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},
			{"role":"tool","tool_call_id":"c","content":"ok"},{"role":"user","content":"and?"}],
			"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}],
			"usage":{"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":80}}}`, want},
		"messages": {`{"body":{"system":[{"type":"text","text":"You help.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"hi"},
			{"role":"assistant","content":[{"type":"text","text":"let me see"},{"type":"tool_use","id":"c","name":"f","input":{"a":1}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"ok"}]},{"type":"text","text":"and?"}]}],
			"tools":[{"name":"f","description":"d","input_schema":{"type":"object"}}]},
			"response":{"usage":{"input_tokens":15,"cache_creation_input_tokens":5,"cache_read_input_tokens":80}}}`, want},
		"responses": {`{"request":{"instructions":"You help.","input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"let me see"}]},
			{"type":"function_call","call_id":"c","name":"f","arguments":"{\"a\":1}"},
			{"type":"function_call_output","call_id":"c","output":"ok"},{"role":"user","content":"and?"}],
			"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"}}]},
			"response":{"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":80}}}}`, split},
		"responses, text": {`{"input":"hi","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":80}}}`,
			prompt.Request{Messages: []prompt.Message{{Role: "user", Content: "hi"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := all(strings.Join(strings.Fields(tt.line), " "), "")
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got[0].Request, tt.want) {
				t.Errorf("read\n%+v\nwant\n%+v", got[0].Request, tt.want)
			}
			if got[0].Prompt != 100 || got[0].Cached != 80 {
				t.Errorf("usage: %d, %d cached", got[0].Prompt, got[0].Cached)
			}
		})
	}
	if _, err := all(`{"input":"and?","previous_response_id":"r1"}`, ""); !errors.Is(err, ErrLine) {
		t.Errorf("a request whose beginning is not in the log: %v", err)
	}
}

func TestKey(t *testing.T) {
	log := `{"session":"","user":"u","run":"r","messages":[{"role":"user","content":"hi"}]}`
	for key, want := range map[string]string{"": "u", "run": "r", "none": ""} {
		if got, err := all(log, key); err != nil || got[0].Key != want {
			t.Errorf("key %q: %+v, %v, want %q", key, got, err, want)
		}
	}
}

// Custom tools, their calls, and whatever else a provider has of its own, are part
// of a request.
func TestReadOtherTools(t *testing.T) {
	log := `{"messages":[{"role":"assistant","tool_calls":[
		{"id":"1","type":"custom","custom":{"name":"sql","input":"SELECT 1"}},
		{"id":"2","type":"function","function":{"name":"f","arguments":{"a":1}}},
		{"id":"3","type":"web","query":"x"},
		{"id":"4","type":"function","function":{"name":"g"}}]}],
		"tools":[
		{"type":"custom","custom":{"name":"sql","description":"Runs SQL.","format":{"type":"text"}}},
		{"type":"web_search","depth":2},
		{"type":"function","function":{"name":"f","description":7}}]}`
	got, err := all(strings.ReplaceAll(log, "\n", ""), "")
	want := prompt.Request{
		Tools: []prompt.Tool{
			{Name: "sql", Description: "Runs SQL.", Parameters: []byte(`{"type":"text"}`)},
			{Name: "web_search", Parameters: []byte(`{"type":"web_search","depth":2}`)},
			{Name: "f"},
		},
		Messages: []prompt.Message{{Role: "assistant", Calls: []prompt.Call{
			{ID: "1", Name: "sql", Arguments: "SELECT 1"},
			{ID: "2", Name: "f", Arguments: `{"a":1}`},
			{ID: "3", Name: "web", Arguments: `{"id":"3","type":"web","query":"x"}`},
			{ID: "4", Name: "g"},
		}}},
	}
	if err != nil || !reflect.DeepEqual(got[0].Request, want) {
		t.Errorf("read %+v, %v\nwant %+v", got, err, want)
	}
}

// What is said beside a request does not count where it is of another type.
func TestReadIgnoresWhatDoesNotFit(t *testing.T) {
	const request = `"messages":[{"role":"user","content":"hi","name":7,"tool_call_id":[1]}]`
	for fields, want := range map[string]Entry{
		`"response":"text"`:                                       {},
		`"response":[1,2]`:                                        {},
		`"response":{"body":"text"}`:                              {},
		`"usage":{"prompt_tokens":5.5}`:                           {},
		`"usage":{"prompt_tokens":"5"}`:                           {},
		`"usage":{"prompt_tokens":1e99}`:                          {},
		`"usage":[]`:                                              {},
		`"usage":{"prompt_tokens":5,"prompt_tokens_details":"x"}`: {Prompt: 5},
		`"usage":{"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":"x"}}`:             {Prompt: 5},
		`"usage":null,"response":{"usage":{"prompt_tokens":5}}`:                                 {Prompt: 5},
		`"usage":{"prompt_tokens":5},"response":{"body":{"usage":{"prompt_tokens":"x"}}}`:       {Prompt: 5},
		`"model":7,"stream":"x","time":{},"timestamp":true`:                                     {},
		`"request":"req_1","body":7`:                                                            {},
		`"request":{},"body":[]`:                                                                {},
		`"user":{"id":1},"session":false`:                                                       {Key: "false"},
		`"response":{"usage":{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":-1}}}`: {Prompt: 9, Cached: -1},
	} {
		got, err := all("{"+fields+","+request+"}", "")
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %v", fields, err)
			continue
		}
		e := got[0]
		if e.Prompt != want.Prompt || e.Cached != want.Cached || e.Key != want.Key || !e.At.IsZero() || e.Request.Messages[0].Content != "hi" {
			t.Errorf("%s: %+v", fields, e)
		}
	}
}

// A message that is sent again and again is held once.
func TestReadHoldsMessagesOnce(t *testing.T) {
	const request = `{"tools":[{"type":"function","function":{"name":"f","description":"long"}}],"messages":[{"role":"user","content":"the same"}]}`
	got, err := all(request+"\n"+strings.Replace(request, "{", " { ", 1), "")
	if err != nil {
		t.Fatal(err)
	}
	a, b := got[0].Request, got[1].Request
	if unsafe.StringData(a.Messages[0].Content) != unsafe.StringData(b.Messages[0].Content) || unsafe.StringData(a.Tools[0].Description) != unsafe.StringData(b.Tools[0].Description) {
		t.Error("a text is held twice")
	}
}

func TestReadErrors(t *testing.T) {
	for log, want := range map[string]string{
		"":                "empty",
		"\n\n":            "empty",
		"{":               "line 1",
		`{"messages":[]}`: "line 1",
		`["x"]`:           "line 1: not a model request: it is no JSON object",
		"{\"a\":\"" + strings.Repeat("x", maxLine) + "\"}": "line 1: not a model request: longer than 67108864 bytes",
		`{"messages":[{"content":7}]}`:                     "line 1",
		`{"messages":[{"content":[7]}]}`:                   "line 1",
		"\n" + `{"messages":"x"}`:                          "line 2: not a model request: messages is no list",
		`{"messages":[7]}`:                                 "messages[0]: not a model request: \"7\" is no object",
		`{"messages":[{"role":7}]}`:                        "messages[0]",
		`{"messages":[{"role":"a","tool_calls":[7]}]}`:     "messages[0]: tool_calls[0]: ",
		`{"messages":[{"role":"a"}],"tools":{}}`:           "tools is no list",
		`{"messages":[{"role":"a"}],"tools":["x"]}`:        "tools[0]",
		`{"messages":[{"role":"a"}],"functions":[7]}`:      "functions[0]",
		`{"request":{"messages":[{}],"tools":7}}`:          "tools is no list",
		`{"body":{"messages":{}},"messages":[{}]}`:         "messages is no list",
		`{"body":{"messages":[{"role":"a"}]}`:              "line 1",
	} {
		if _, err := all(log, ""); !errors.Is(err, ErrLine) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, want ErrLine with %q", log, err, want)
		}
	}
}

// FuzzRead checks that a log gives requests or an error and that each request has
// messages.
func FuzzRead(f *testing.F) {
	f.Add(`{"messages":[{"role":"user","content":"hi"}],"time":1e300}`, "user")
	f.Add(`{"request":{"messages":[{"content":[{"type":"x"}]}]},"timestamp":"now"}`, "")
	f.Fuzz(func(t *testing.T, log, key string) {
		entries, err := all(log, key)
		if (err == nil) != (len(entries) > 0) {
			t.Fatalf("%d entries, %v", len(entries), err)
		}
		for _, e := range entries {
			if len(e.Request.Messages) == 0 || e.Line < 1 {
				t.Fatalf("%+v", e)
			}
		}
	})
}

// Parts that are no text have a kind and a digest of their content, whatever the format.
func TestReadMedia(t *testing.T) {
	mediaIn := func(message string) []prompt.Media {
		t.Helper()
		got, err := all(`{"messages":[`+message+`]}`, "")
		if err != nil {
			t.Fatal(err)
		}
		var media []prompt.Media
		for _, m := range got[0].Request.Messages {
			if media = append(media, m.Media...); len(m.Media) > 0 && m.Content != "" && m.Content != "a" {
				t.Errorf("%s has the content %q", message, m.Content)
			}
		}
		return media
	}
	for kind, parts := range map[string][]string{
		"image": {
			`{"type":"image_url","image_url":{"url":"https://example.com/a.png","detail":"low"}}`, `{"type":"input_image","image_url":"data:x"}`,
			`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}`, `{"type":"binary","binary":{"mime_type":"image/png","data":"AA=="}}`,
		},
		"audio": {`{"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}}`},
		"video": {`{"type":"video_url","video_url":{"url":"https://example.com/a.mp4"}}`},
		"file": {
			`{"type":"file","file":{"file_id":"f"}}`, `{"type":"document","source":{"type":"url","url":"https://example.com/a.pdf"}}`,
			`{"type":"binary","binary":{"mime_type":"application/pdf","data":"AA=="}}`,
		},
	} {
		for _, part := range parts {
			got := mediaIn(`{"role":"user","content":[{"type":"text","text":"a"},` + part + `]}`)
			if len(got) != 1 || got[0].Kind != kind || got[0].Digest == "" {
				t.Errorf("%s is read as %+v, want the kind %s", part, got, kind)
			}
			if marked := mediaIn(`{"role":"user","content":[` + part[:len(part)-1] + `,"cache_control":{"type":"ephemeral"}},{"type":"text","text":"a"}]}`); !reflect.DeepEqual(got, marked) {
				t.Errorf("with a mark for a cache %s is %+v, want %+v", part, marked, got)
			}
			if result := mediaIn(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[` + part + `]}]}`); !reflect.DeepEqual(got, result) {
				t.Errorf("in a result %s is %+v, want %+v", part, result, got)
			}
		}
	}
	one, other := mediaIn(`{"role":"user","content":[{"type":"image","a":1}]}`), mediaIn(`{"role":"user","content":[{"type":"image","a":2}]}`)
	if one[0].Digest == other[0].Digest {
		t.Errorf("different pictures have the digest %s", one[0].Digest)
	}
	if speech := mediaIn(`{"role":"assistant","audio":{"id":"audio_1"}}`); len(speech) != 1 || speech[0].Kind != "audio" {
		t.Errorf("an answer in speech is read as %+v", speech)
	}
}
