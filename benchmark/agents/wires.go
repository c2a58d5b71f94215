package main

import (
	"fmt"
	"io"
	"net/http"
)

// object is a JSON object.
type object = map[string]any

// reply is an answer of the scripted model, to be written in the form of a wire.
type reply struct {
	move
	number   int
	model    any
	isStream bool
}

// writers write replies, by wire.
var writers = map[string]func(http.ResponseWriter, reply){"messages": writeMessages, "responses": writeResponses, "chat": writeChat}

func (r reply) id(prefix string, i int) string { return fmt.Sprintf("%s_%d_%d", prefix, r.number, i) }

// event writes a server-sent event whose data names its type.
func event(w io.Writer, kind string, data object) {
	data["type"] = kind
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, compact(data))
}

// writeMessages writes a reply in the format of Anthropic's Messages API.
func writeMessages(w http.ResponseWriter, r reply) {
	message := object{
		"id": r.id("msg", 0), "type": "message", "role": "assistant", "model": r.model, "stop_sequence": nil,
		"usage": object{"input_tokens": 1, "output_tokens": 1},
	}
	blocks := []any{object{"type": "text", "text": r.say}}
	stop := "end_turn"
	if len(r.calls) > 0 {
		blocks, stop = nil, "tool_use"
		for i, c := range r.calls {
			blocks = append(blocks, object{"type": "tool_use", "id": r.id("toolu", i), "name": c.tool, "input": c.args})
		}
	}
	if !r.isStream {
		message["content"], message["stop_reason"] = blocks, stop
		send(w, compact(message))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	message["content"], message["stop_reason"] = []any{}, nil
	event(w, "message_start", object{"message": message})
	for i, block := range blocks {
		block := block.(object)
		delta := object{"type": "text_delta", "text": r.say}
		begin := object{"type": "text", "text": ""}
		if block["type"] == "tool_use" {
			delta = object{"type": "input_json_delta", "partial_json": compact(block["input"])}
			begin = object{"type": "tool_use", "id": block["id"], "name": block["name"], "input": object{}}
		}
		event(w, "content_block_start", object{"index": i, "content_block": begin})
		event(w, "content_block_delta", object{"index": i, "delta": delta})
		event(w, "content_block_stop", object{"index": i})
	}
	event(w, "message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 1}})
	event(w, "message_stop", object{})
}

// writeResponses writes a reply in the format of OpenAI's Responses API.
func writeResponses(w http.ResponseWriter, r reply) {
	items := []any{object{
		"type": "message", "id": r.id("msg", 0), "role": "assistant", "status": "completed",
		"content": []any{object{"type": "output_text", "text": r.say, "annotations": []any{}}},
	}}
	if len(r.calls) > 0 {
		items = nil
		for i, c := range r.calls {
			items = append(items, object{
				"type": "function_call", "id": r.id("fc", i), "call_id": r.id("call", i), "status": "completed",
				"name": c.tool, "arguments": compact(c.args),
			})
		}
	}
	response := func(status string, output []any) object {
		return object{
			"id": r.id("resp", 0), "object": "response", "status": status, "model": r.model, "output": output,
			"usage": object{
				"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
				"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0},
			},
		}
	}
	if !r.isStream {
		send(w, compact(response("completed", items)))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event(w, "response.created", object{"response": response("in_progress", []any{})})
	for i, item := range items {
		event(w, "response.output_item.added", object{"output_index": i, "item": item})
		event(w, "response.output_item.done", object{"output_index": i, "item": item})
	}
	event(w, "response.completed", object{"response": response("completed", items)})
}

// writeChat writes a reply in the format of OpenAI's Chat Completions API.
func writeChat(w http.ResponseWriter, r reply) {
	message, finish := object{"role": "assistant", "content": r.say}, "stop"
	if len(r.calls) > 0 {
		var calls []any
		for i, c := range r.calls {
			calls = append(calls, object{"index": i, "id": r.id("call", i), "type": "function", "function": object{"name": c.tool, "arguments": compact(c.args)}})
		}
		message, finish = object{"role": "assistant", "content": nil, "tool_calls": calls}, "tool_calls"
	}
	whole := func(kind string, choices ...any) object {
		return object{"id": r.id("chatcmpl", 0), "object": kind, "created": 1, "model": r.model, "choices": choices}
	}
	usage := object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	if !r.isStream {
		o := whole("chat.completion", object{"index": 0, "message": message, "finish_reason": finish})
		o["usage"] = usage
		send(w, compact(o))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	last := whole("chat.completion.chunk", object{"index": 0, "delta": object{}, "finish_reason": finish})
	last["usage"] = usage
	for _, chunk := range []object{whole("chat.completion.chunk", object{"index": 0, "delta": message, "finish_reason": nil}), last} {
		fmt.Fprintf(w, "data: %s\n\n", compact(chunk))
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}
