package satcheltest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/satchel-go/satchel/core"
)

// Response is the answer of the server. The zero value is an empty assistant message.
type Response struct {
	// Text and Calls are the content of the assistant message. A call without an ID gets
	// call_<request number>_<position from 1>. A call with the ID "\x00" is sent without an id.
	Text  string
	Calls []core.ToolCall
	// Usage is the usage to report. If it is nil, the server reports an estimate; see [Server].
	Usage *core.Usage
	// Status is the HTTP status; 0 means 200. With any other status the body is an error object
	// with the message Err.
	Status int
	Err    string
	// Cut breaks the connection in the middle of the answer.
	Cut bool
}

// ToolCall returns a call of a tool. If args is a string, it becomes the raw arguments, valid JSON or
// not. Any other value is encoded as JSON.
func ToolCall(tool string, args any) core.ToolCall {
	if raw, ok := args.(string); ok {
		return core.ToolCall{Name: tool, Arguments: raw}
	}
	raw, err := json.Marshal(args)
	if err != nil {
		// The script passed a value without JSON: the error shows where the call arrives.
		raw = fmt.Appendf(nil, "%q", err.Error())
	}
	return core.ToolCall{Name: tool, Arguments: string(raw)}
}

// noID is the ID of a call that is sent without an id.
const noID = "\x00"

// withIDs returns the response with an id, made from its place, for every call that has none.
func (r Response) withIDs(request int) Response {
	calls := make([]core.ToolCall, len(r.Calls))
	for i, c := range r.Calls {
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d_%d", request, i+1)
		}
		if c.ID == noID {
			c.ID = ""
		}
		calls[i] = c
	}
	r.Calls = calls
	return r
}

func (r Response) finishReason() string {
	if len(r.Calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

type wireCall struct {
	Index    *int   `json:"index,omitempty"`
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func usageBody(u *core.Usage) map[string]any {
	return map[string]any{
		"prompt_tokens":         u.Prompt,
		"completion_tokens":     u.Completion,
		"total_tokens":          u.Prompt + u.Completion,
		"prompt_tokens_details": map[string]int{"cached_tokens": u.Cached},
	}
}

func writeError(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// If this fails the client sees a short body; no one else could handle the error.
	_ = json.NewEncoder(w).Encode(map[string]any{
		"error": map[string]any{"message": message, "type": "scripted", "code": fmt.Sprint(status)},
	})
}

// writeJSON writes a response that is not streamed.
func writeJSON(w http.ResponseWriter, req Request, resp Response) {
	message := map[string]any{"role": "assistant", "content": resp.Text}
	if len(resp.Calls) > 0 {
		calls := make([]wireCall, len(resp.Calls))
		for i, c := range resp.Calls {
			calls[i] = wireCall{ID: c.ID, Type: "function"}
			calls[i].Function.Name, calls[i].Function.Arguments = c.Name, c.Arguments
		}
		message["tool_calls"] = calls
		if resp.Text == "" {
			message["content"] = nil
		}
	}
	body, err := json.Marshal(map[string]any{
		"id":      responseID(req),
		"object":  "chat.completion",
		"created": createdAt,
		"model":   req.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": resp.finishReason()}},
		"usage":   usageBody(resp.Usage),
	})
	if err != nil {
		writeError(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if resp.Cut {
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		body = body[:len(body)/2]
	}
	_, _ = w.Write(body) // the client may be gone
}

// createdAt is the time in all responses: a constant, so that tests are repeatable.
const createdAt = 1700000000

func responseID(req Request) string { return fmt.Sprintf("chatcmpl-%d", req.Number) }
