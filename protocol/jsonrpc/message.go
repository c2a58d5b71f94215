package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/internal/plainjson"
)

// Bounds of what a caller may send.
const (
	// MaxMessage is the length of a message in bytes, batch or not.
	MaxMessage = 16 << 20
	// MaxBatch is the number of calls in a batch.
	MaxBatch = 32
)

// The error codes of the specification, and of cancelled calls.
const (
	CodeParse     = -32700
	CodeInvalid   = -32600
	CodeMethod    = -32601
	CodeParams    = -32602
	CodeInternal  = -32603
	CodeCancelled = -32800
)

// Error is an error as it is sent.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Call is a call or, without ID, a notification.
type Call struct {
	// ID is a JSON string, an integer or null; nil for a notification.
	ID     json.RawMessage
	Method string
	// Params is a JSON object; nil if there are none.
	Params json.RawMessage
	// Loose reports that the member "jsonrpc" was missing, which is accepted for
	// calls of id, method and params alone.
	Loose bool
}

// answer is a response on the wire.
type answer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

var null = json.RawMessage("null")

// encode writes a response. A result that cannot be written is an internal error.
func (a answer) encode() []byte {
	a.Version = "2.0"
	if a.ID == nil {
		a.ID = null
	}
	if a.Result == nil && a.Error == nil {
		a.Result = null
	}
	text, err := Marshal(a)
	if err != nil {
		text, _ = Marshal(answer{Version: "2.0", ID: a.ID, Error: &Error{Code: CodeInternal, Message: "the result cannot be written"}})
	}
	return text
}

// Marshal is json.Marshal without the escapes that are for HTML.
func Marshal(v any) ([]byte, error) {
	text, err := plainjson.Encode(v)
	return []byte(text), err
}

func invalid(format string, args ...any) *Error {
	return &Error{Code: CodeInvalid, Message: fmt.Sprintf(format, args...), Data: map[string]string{"kind": "request"}}
}

// parseCall reads one message. With an error the call has the id, if that was
// legible.
func parseCall(raw json.RawMessage) (Call, *Error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return Call{ID: null}, invalid("a message is an object, or an array of at most %d", MaxBatch)
	}
	call := Call{ID: members["id"]}
	if !validID(call.ID) {
		call.ID = null
		return call, invalid("id: want a string, an integer or null")
	}
	if err := call.read(members); err != nil {
		if call.ID == nil {
			call.ID = null // who cannot be understood is told so
		}
		return call, err
	}
	return call, nil
}

func (c *Call) read(members map[string]json.RawMessage) *Error {
	var version string
	switch raw, ok := members["jsonrpc"]; {
	case !ok:
		c.Loose = true
		for name := range members {
			if c.ID == nil || name != "id" && name != "method" && name != "params" {
				return invalid(`jsonrpc: want "2.0"`)
			}
		}
	case json.Unmarshal(raw, &version) != nil || version != "2.0":
		return invalid(`jsonrpc: want "2.0"`)
	}
	if err := json.Unmarshal(members["method"], &c.Method); err != nil || c.Method == "" {
		return invalid("method: want a string")
	}
	params := bytes.TrimSpace(members["params"])
	switch {
	case len(params) == 0 || bytes.Equal(params, null):
	case params[0] == '{':
		c.Params = params
	default:
		return &Error{Code: CodeParams, Message: "params: want an object", Data: map[string]string{"kind": "params", "field": "params"}}
	}
	return nil
}

// validID reports whether an id is one of the three kinds, or absent.
func validID(raw json.RawMessage) bool {
	if len(raw) == 0 || raw[0] == '"' || bytes.Equal(raw, null) {
		return len(raw) <= 1024
	}
	digits := bytes.TrimPrefix(raw, []byte("-"))
	return len(digits) > 0 && len(digits) <= 20 && len(bytes.Trim(digits, "0123456789")) == 0
}

// split returns the messages of a batch, or the one.
func split(raw []byte) (list []json.RawMessage, batch bool, _ *Error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) > MaxMessage {
		return nil, false, invalid("message of %d bytes: at most %d", len(raw), MaxMessage)
	}
	if !json.Valid(raw) {
		return nil, false, &Error{Code: CodeParse, Message: "not valid JSON", Data: map[string]string{"kind": "parse"}}
	}
	if raw[0] != '[' {
		return []json.RawMessage{raw}, false, nil
	}
	_ = json.Unmarshal(raw, &list) // it is valid, and an array
	if len(list) == 0 || len(list) > MaxBatch {
		return nil, true, invalid("a batch of %d: want 1 to %d", len(list), MaxBatch)
	}
	return list, true, nil
}

// errorOf is the error that a caller is told.
func errorOf(err error) *Error {
	if told, ok := errors.AsType[*Error](err); ok {
		return told
	}
	return &Error{Code: CodeInternal, Message: "internal error", Data: map[string]string{"kind": "internal"}}
}
