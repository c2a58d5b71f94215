package satcheltest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
)

func start(t *testing.T, script Script) *Server {
	t.Helper()
	s, err := Open(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func post(t *testing.T, s *Server, body string) (int, string, error) {
	t.Helper()
	resp, err := http.Post(s.URL()+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

const hello = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`

func TestServerAnswersWhole(t *testing.T) {
	s := start(t, func(r Request) Response {
		return Response{Text: "look", Calls: []core.ToolCall{ToolCall("a", map[string]any{"x": 1}), ToolCall("b", "{broken"), {ID: "own", Name: "c"}}}
	})
	status, body, err := post(t, s, hello)
	if err != nil || status != http.StatusOK {
		t.Fatalf("status %d, error %v", status, err)
	}
	var got struct {
		ID      string
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct {
				Content   string
				ToolCalls []struct {
					ID, Type string
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if got.ID != "chatcmpl-1" || got.Choices[0].FinishReason != "tool_calls" || got.Choices[0].Message.Content != "look" {
		t.Errorf("answer = %s", body)
	}
	want := []core.ToolCall{{ID: "call_1_1", Name: "a", Arguments: `{"x":1}`}, {ID: "call_1_2", Name: "b", Arguments: "{broken"}, {ID: "own", Name: "c"}}
	for i, c := range got.Choices[0].Message.ToolCalls {
		if (core.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments}) != want[i] || c.Type != "function" {
			t.Errorf("call %d = %+v, want %+v", i, c, want[i])
		}
	}
}

// chunks decodes a stream of events and joins its pieces as a client does.
func chunks(t *testing.T, body string) (text string, calls []core.ToolCall, finish string, usage map[string]any, events int, done bool) {
	t.Helper()
	scanner := bufio.NewScanner(strings.NewReader(body))
	for scanner.Scan() {
		data, ok := strings.CutPrefix(scanner.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			return text, calls, finish, usage, events, true
		}
		events++
		var chunk struct {
			Usage   map[string]any
			Choices []struct {
				FinishReason string `json:"finish_reason"`
				Delta        struct {
					Content   string
					ToolCalls []struct {
						Index    int
						ID       string
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
			}
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			t.Fatalf("chunk %q: %v", data, err)
		}
		if chunk.Usage != nil {
			usage = chunk.Usage
		}
		for _, c := range chunk.Choices {
			text += c.Delta.Content
			finish += c.FinishReason
			for _, d := range c.Delta.ToolCalls {
				if d.ID != "" {
					calls = append(calls, core.ToolCall{ID: d.ID, Name: d.Function.Name})
				}
				calls[d.Index].Arguments += d.Function.Arguments
			}
		}
	}
	return text, calls, finish, usage, events, false
}

func TestServerStreams(t *testing.T) {
	long := "Straße, 技能 and a long enough sentence"
	s := start(t, func(r Request) Response {
		return Response{Text: long, Calls: []core.ToolCall{ToolCall("a", map[string]string{"q": "ümläut value"}), ToolCall("b", "")}, Usage: &core.Usage{Prompt: 10, Cached: 4, Completion: 3}}
	})
	_, body, err := post(t, s, `{"stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	text, calls, finish, usage, events, done := chunks(t, body)
	if text != long || finish != "tool_calls" || !done {
		t.Errorf("text %q, finish %q, done %v", text, finish, done)
	}
	if len(calls) != 2 || calls[0] != (core.ToolCall{ID: "call_1_1", Name: "a", Arguments: `{"q":"ümläut value"}`}) || calls[1] != (core.ToolCall{ID: "call_1_2", Name: "b"}) {
		t.Errorf("calls = %+v", calls)
	}
	if events < 9 {
		t.Errorf("%d events: text and arguments must come in several pieces", events)
	}
	if usage["prompt_tokens"] != 10.0 || usage["total_tokens"] != 13.0 {
		t.Errorf("usage = %v", usage)
	}
	_, body, _ = post(t, s, `{"stream":true,"messages":[{"role":"user","content":"hi"}]}`)
	if _, _, _, usage, _, _ := chunks(t, body); usage != nil {
		t.Errorf("usage %v although nobody asked", usage)
	}
}

func TestServerRefuses(t *testing.T) {
	s := start(t, func(r Request) Response { return Response{Status: http.StatusTooManyRequests, Err: "slow down"} })
	tests := map[string]struct {
		body   string
		status int
		says   string
	}{
		"scripted":      {hello, http.StatusTooManyRequests, "slow down"},
		"no json":       {"{", http.StatusBadRequest, "bad chat completion request"},
		"no messages":   {"{}", http.StatusBadRequest, "no messages"},
		"bad content":   {`{"messages":[{"role":"user","content":7}]}`, http.StatusBadRequest, "message 0"},
		"broken schema": {`{"messages":[{"role":"user"}],"tools":[{"function":{"name":"x","parameters":3}}]}`, http.StatusTooManyRequests, "slow down"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			status, body, err := post(t, s, test.body)
			if err != nil || status != test.status || !strings.Contains(body, test.says) {
				t.Errorf("status %d, body %s, error %v", status, body, err)
			}
		})
	}
	resp, err := http.Get(s.URL() + "/models")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("other path: status %d", resp.StatusCode)
	}
}

func TestServerCutsConnection(t *testing.T) {
	s := start(t, func(r Request) Response {
		return Response{Text: "a text that is longer than one piece", Cut: true}
	})
	for name, body := range map[string]string{"whole": hello, "stream": strings.Replace(hello, "{", `{"stream":true,`, 1)} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := post(t, s, body); err == nil {
				t.Error("the client did not notice the cut")
			}
		})
	}
}

func TestServerKeepsRequests(t *testing.T) {
	s := start(t, func(r Request) Response { return Response{Text: "ok"} })
	first := `{"model":"m","messages":[{"role":"system","content":null},{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url"},{"type":"text","text":"b"}]}],` +
		`"tools":[{"function":{"name":"t","description":"d","parameters":{"b": 1.50, "a":2}}}]}`
	for _, body := range []string{first, hello} {
		if _, _, err := post(t, s, body); err != nil {
			t.Fatal(err)
		}
	}
	got := s.Requests()
	if len(got) != 2 || got[0].Number != 1 || got[1].Number != 2 || string(got[0].Raw) != first {
		t.Fatalf("requests = %+v", got)
	}
	if m := got[0].Messages; m[0].Text != "" || m[1].Text != "ab" || m[1].Role != "user" {
		t.Errorf("messages = %+v", m)
	}
	if !reflect.DeepEqual(got[0].Tools[0], core.Tool{Name: "t", Description: "d", Schema: json.RawMessage(`{"a":2,"b":1.50}`)}) {
		t.Errorf("tools = %+v", got[0].Tools)
	}
}

func TestServerEstimatesUsage(t *testing.T) {
	s := start(t, func(r Request) Response { return Response{Text: "12345678"} })
	usage := func(body string) (u struct {
		Prompt  int `json:"prompt_tokens"`
		Answer  int `json:"completion_tokens"`
		Details struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}) {
		_, data, err := post(t, s, body)
		if err != nil {
			t.Fatal(err)
		}
		got := struct{ Usage any }{&u}
		if err := json.Unmarshal([]byte(data), &got); err != nil {
			t.Fatal(err)
		}
		return u
	}
	if u := usage(hello); u.Prompt != 3 || u.Details.Cached != 0 || u.Answer != 2 {
		t.Errorf("first = %+v", u) // the request "user \nhi\n" has 9 bytes
	}
	if u := usage(hello); u.Details.Cached != 2 {
		t.Errorf("again = %+v", u)
	}
}

func TestRequestContextEndsWithClient(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	s := start(t, func(r Request) Response {
		cancel()
		<-r.Context().Done()
		close(ended)
		return Response{Text: "late"}
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/chat/completions", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := http.DefaultClient.Do(req); !errors.Is(err, context.Canceled) {
		if err == nil {
			resp.Body.Close()
		}
		t.Errorf("error = %v", err)
	}
	<-ended
}

func TestNewNeedsScript(t *testing.T) {
	if _, err := Open(nil); err == nil {
		t.Error("no error")
	}
}

func TestPieces(t *testing.T) {
	for s, want := range map[string][]string{"": nil, "ab": {"ab"}, "技能x": {"技能", "x"}, "abcd": {"ab", "cd"}} {
		if got := pieces(s, 2); strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("pieces(%q) = %q, want %q", s, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(hello))
	f.Add([]byte(`{"messages":[{"content":[{"type":"text"}]}],"tools":[{"function":{"parameters":{"a":[1]}}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := decode(raw)
		if err != nil {
			if !errors.Is(err, errRequest) {
				t.Errorf("error %v is no ErrRequest", err)
			}
			return
		}
		if len(r.Messages) == 0 || !bytes.Equal(r.Prompt(), r.Prompt()) {
			t.Errorf("request = %+v", r)
		}
	})
}
