package requestlog

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/benchmark/capture"
)

func TestRead(t *testing.T) {
	log := "\ufeff" + `{"model":"m","user":"u-1","messages":[{"role":"system","content":"You help."},{"role":"user","content":[{"type":"text","text":"look: "},{"type":"image_url","image_url":{"url":"data:x"}},{"type":"text","text":" and"}]}],"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}},{"type":"web_search"}]}

{"custom_id":"1","session_id":7,"timestamp":1790000000.5,"body":{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"ok"}]},"response":{"body":{"usage":{"prompt_tokens":50,"prompt_tokens_details":{"cached_tokens":20}}}}}
{"time":"2026-10-01T10:00:00+02:00","request":{"conversation_id":"c-9","functions":[{"name":"g","description":""}],"messages":[{"role":"assistant","function_call":{"name":"g","arguments":"1"}}]}}
`
	got, err := Read(strings.NewReader(log), "")
	if err != nil {
		t.Fatal(err)
	}
	image := got[0].Request.Messages[1].Content
	if !strings.HasPrefix(image, "look: [image_url ") || !strings.HasSuffix(image, "] and") || strings.Contains(image, "data:") {
		t.Errorf("content is %q", image)
	}
	want := []Entry{
		{Line: 1, Key: "u-1", Model: "m", Request: capture.Request{
			Tools:    []capture.Tool{{Name: "f", Description: "d", Parameters: []byte(`{"type":"object"}`)}, {Name: "web_search"}},
			Messages: []capture.Message{{Role: "system", Content: "You help."}, {Role: "user", Content: image}},
		}},
		{Line: 3, Key: "7", At: time.Unix(1790000000, 5e8), Prompt: 50, Cached: 20, Request: capture.Request{
			Messages: []capture.Message{
				{Role: "assistant", Calls: []capture.Call{{ID: "c", Name: "f", Arguments: "{}"}}},
				{Role: "tool", Content: "ok", CallID: "c"},
			},
		}},
		{Line: 4, Key: "c-9", At: got[2].At, Request: capture.Request{
			Tools:    []capture.Tool{{Name: "g"}},
			Messages: []capture.Message{{Role: "assistant", Calls: []capture.Call{{Name: "g", Arguments: "1"}}}},
		}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%+v\nwant\n%+v", got, want)
	}
	if !got[2].At.Equal(time.Date(2026, 10, 1, 8, 0, 0, 0, time.UTC)) {
		t.Errorf("time %v", got[2].At)
	}
}

func TestKey(t *testing.T) {
	log := `{"session":"","user":"u","run":"r","messages":[{"role":"user","content":"hi"}]}`
	for key, want := range map[string]string{"": "u", "run": "r", "none": ""} {
		if got, err := Read(strings.NewReader(log), key); err != nil || got[0].Key != want {
			t.Errorf("key %q: %+v, %v, want %q", key, got, err, want)
		}
	}
}

func TestReadErrors(t *testing.T) {
	for log, want := range map[string]string{
		"":                "empty",
		"\n\n":            "empty",
		"{":               "line 1",
		`{"messages":[]}`: "line 1",
		`["x"]`:           "line 1: not a chat completion request: it is no JSON object",
		"{\"a\":\"" + strings.Repeat("x", maxLine) + "\"}": "line 1: not a chat completion request: longer than 67108864 bytes",
		`{"messages":[{"content":7}]}`:                     "line 1",
		`{"messages":[{"content":[7]}]}`:                   "line 1",
		"\n" + `{"messages":"x"}`:                          "line 2",
		`{"body":{"messages":[{"role":"a"}]}`:              "line 1",
	} {
		if _, err := Read(strings.NewReader(log), ""); !errors.Is(err, ErrLine) || !strings.Contains(err.Error(), want) {
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
		entries, err := Read(strings.NewReader(log), key)
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
