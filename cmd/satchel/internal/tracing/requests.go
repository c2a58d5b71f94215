package tracing

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/tracing/line"
	"github.com/satchel-go/satchel/internal/tracing/tracelog"
)

// requestLine is a line of a log of requests. Its JSON steers no terminal.
type requestLine struct {
	Session printable.Text `json:"session"`
	Time    time.Time      `json:"time"`
	Body    requestBody    `json:"body"`
	Usage   *usage         `json:"usage,omitempty"`
}

// requestBody is a request in the format of chat completions.
type requestBody struct {
	Model    printable.Text    `json:"model"`
	Messages []json.RawMessage `json:"messages"`
	Tools    json.RawMessage   `json:"tools,omitempty"`
}

// messageBody is a message. Content is a text, or a list of parts if there is media.
type messageBody struct {
	Role    string     `json:"role"`
	Content any        `json:"content"`
	Calls   []callBody `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
}

type callBody struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function functionCall `json:"function"`
}

type functionCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type toolBody struct {
	Type     string    `json:"type"`
	Function line.Tool `json:"function"`
}

type usage struct {
	Prompt     int          `json:"prompt_tokens"`
	Completion int          `json:"completion_tokens"`
	Details    usageDetails `json:"prompt_tokens_details"`
}

type usageDetails struct {
	Cached int `json:"cached_tokens"`
}

// writeRequests writes the requests of a trace as a log. It leaves out those that the trace does not
// have whole, and says how many on errs.
func writeRequests(out, errs io.Writer, t *tracelog.Trace) error {
	if t.Texts != tracelog.TextsWhole {
		return fmt.Errorf("the trace has no texts of messages (texts: %s): --requests needs one that was written with texts whole", cli.Printable(t.Texts))
	}
	w := requestWriter{messages: make(map[*tracelog.Message]json.RawMessage), tools: make(map[*tracelog.Tools]json.RawMessage)}
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	incomplete := 0
	for _, call := range t.Calls() {
		request, ok, err := w.request(call)
		if err != nil {
			return err
		}
		if !ok {
			incomplete++
			continue
		}
		if err := lines.Encode(request); err != nil {
			return fmt.Errorf("write requests: %w", err)
		}
	}
	if incomplete > 0 {
		fmt.Fprintf(errs, "satchel: %s left out: lines of the trace are missing\n", cli.Count(incomplete, "request"))
	}
	return nil
}

// requestWriter encodes each message and each list of tools once.
type requestWriter struct {
	messages map[*tracelog.Message]json.RawMessage
	tools    map[*tracelog.Tools]json.RawMessage
}

// request returns the request of a call. ok is false if the trace does not have all of it.
func (w *requestWriter) request(c *tracelog.Call) (r *requestLine, ok bool, err error) {
	if c.Uncertain || c.Tools == nil {
		return nil, false, nil
	}
	r = &requestLine{Session: printable.Text(c.Agent.Label), Time: c.Time}
	r.Body = requestBody{Model: printable.Text(c.Model), Messages: make([]json.RawMessage, 0, c.Len())}
	for _, m := range c.Messages() {
		if m.Missing || m.Withheld {
			return nil, false, nil
		}
		text, err := encoded(w.messages, m, func() any { return bodyOf(m) })
		if err != nil {
			return nil, false, err
		}
		r.Body.Messages = append(r.Body.Messages, text)
	}
	if len(c.Tools.Tools) > 0 {
		r.Body.Tools, err = encoded(w.tools, c.Tools, func() any { return toolsOf(c.Tools) })
	}
	if a := c.Answer; a != nil {
		r.Usage = &usage{a.PromptTokens, a.CompletionTokens, usageDetails{a.CachedTokens}}
	}
	return r, true, err
}

func bodyOf(m *tracelog.Message) messageBody {
	body := messageBody{Role: m.Role, Content: m.Content, CallID: m.ToolCallID}
	if len(m.Media) > 0 {
		body.Content = partsOf(m)
	}
	for _, call := range m.ToolCalls {
		body.Calls = append(body.Calls, callBody{call.ID, "function", functionCall{call.Name, call.Arguments}})
	}
	return body
}

// partsOf returns the content of a message with media. A trace has digests of media, which take the place of
// their addresses.
func partsOf(m *tracelog.Message) []map[string]any {
	var parts []map[string]any
	for i := range m.Media {
		part := "file_url"
		if kind := m.Media[i].Kind; kind == "image" || kind == "audio" || kind == "video" {
			part = kind + "_url"
		}
		parts = append(parts, map[string]any{"type": part, part: map[string]string{"url": m.Media[i].Digest}})
	}
	if m.Content != "" {
		parts = append(parts, map[string]any{"type": "text", "text": m.Content})
	}
	return parts
}

func toolsOf(t *tracelog.Tools) []toolBody {
	list := make([]toolBody, len(t.Tools))
	for i := range t.Tools {
		list[i] = toolBody{"function", t.Tools[i]}
	}
	return list
}

// encoded returns the printable JSON of the value for key, which it keeps in known.
func encoded[K comparable](known map[K]json.RawMessage, key K, value func() any) (json.RawMessage, error) {
	if text, ok := known[key]; ok {
		return text, nil
	}
	text, err := plainjson.Encode(value())
	if err != nil {
		return nil, fmt.Errorf("write request: %w", err)
	}
	known[key] = json.RawMessage(printable.Lines(text))
	return known[key], nil
}
