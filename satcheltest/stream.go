package satcheltest

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/satchel-go/satchel/core"
)

// stream writes one response as server-sent events.
type stream struct {
	w   http.ResponseWriter
	req Request
}

// writeStream writes a response in the order of the OpenAI format. First come the role and the
// text, then each call: its name first, then its arguments. The finish reason, the usage if the
// request asks for it, and "[DONE]" end the stream.
func writeStream(w http.ResponseWriter, req Request, resp Response) {
	w.Header().Set("Content-Type", "text/event-stream")
	s := stream{w: w, req: req}
	s.writeDelta(map[string]any{"role": "assistant", "content": ""})
	for i, piece := range pieces(resp.Text, textPiece) {
		if resp.Cut && i > 0 {
			panic(http.ErrAbortHandler)
		}
		s.writeDelta(map[string]any{"content": piece})
	}
	for i, c := range resp.Calls {
		s.writeCall(i, c, resp.Cut)
	}
	if resp.Cut {
		panic(http.ErrAbortHandler)
	}
	s.writeChunk(map[string]any{
		"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": resp.finishReason()}},
	})
	if req.StreamUsage {
		s.writeChunk(map[string]any{"choices": []any{}, "usage": usageBody(resp.Usage)})
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n") // the client may be gone
}

// writeCall writes one tool call. Only its first delta has the id, the type and the name.
func (s stream) writeCall(index int, c core.ToolCall, cut bool) {
	first := wireCall{Index: &index, ID: c.ID, Type: "function"}
	first.Function.Name = c.Name
	s.writeDelta(map[string]any{"tool_calls": []wireCall{first}})
	for _, piece := range pieces(c.Arguments, argumentPiece) {
		if cut {
			return
		}
		more := wireCall{Index: &index}
		more.Function.Arguments = piece
		s.writeDelta(map[string]any{"tool_calls": []wireCall{more}})
	}
}

func (s stream) writeDelta(delta map[string]any) {
	s.writeChunk(map[string]any{
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": nil}},
	})
}

func (s stream) writeChunk(body map[string]any) {
	body["id"] = responseID(s.req)
	body["object"] = "chat.completion.chunk"
	body["created"] = createdAt
	body["model"] = s.req.Model
	data, err := json.Marshal(body)
	if err != nil {
		panic(http.ErrAbortHandler) // breaks the connection, so that the client notices
	}
	_, _ = s.w.Write(append(append([]byte("data: "), data...), "\n\n"...))
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

// pieces splits s after every n runes. An empty s has no pieces.
func pieces(s string, n int) []string {
	var out []string
	count, start := 0, 0
	for i := range s {
		if count == n {
			out = append(out, s[start:i])
			count, start = 0, i
		}
		count++
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}
