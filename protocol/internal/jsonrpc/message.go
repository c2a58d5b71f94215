package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/internal/text/plainjson"
)

// The error codes of the specification, and of cancelled calls.
const (
	CodeParse     = -32700
	CodeInvalid   = -32600
	CodeMethod    = -32601
	CodeParams    = -32602
	CodeInternal  = -32603
	CodeCancelled = -32800

	CodeTooLarge = -32005 // of the server: an answer, a message or a blob exceeds its bound
)

// Error is an error of the protocol.
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
	// Loose reports that the member "jsonrpc" was missing. That is allowed if the call has an
	// id and no members but id, method and params.
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

// encode returns the text of a response, and its error. A result that cannot be encoded, or has
// more than most bytes, becomes an error.
func (a answer) encode(most int) ([]byte, *Error) {
	a.Version = "2.0"
	if a.ID == nil {
		a.ID = null
	}
	if a.Result == nil && a.Error == nil {
		a.Result = null
	}
	text, err := marshal(a, most)
	switch {
	case errors.Is(err, ErrTooLong):
		a.Result, a.Error = nil, tooLarge("the answer")
		text, _ = marshal(a, MaxMessage)
	case err != nil:
		a.Result, a.Error = nil, &Error{Code: CodeInternal, Message: "the result cannot be written"}
		text, _ = marshal(a, MaxMessage)
	}
	return text, a.Error
}

// Marshal is json.Marshal without escapes for HTML. The error wraps ErrTooLong if the text would
// be longer than a message. Marshal finds that out before it encodes.
func Marshal(v any) ([]byte, error) { return marshal(v, MaxMessage) }

// marshal is Marshal for a text of at most most bytes.
func marshal(v any, most int) ([]byte, error) {
	if plainjson.SizeOf(v, most) > most {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLong, most)
	}
	text, err := plainjson.Encode(v)
	if err == nil && len(text) > most {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLong, len(text))
	}
	return []byte(text), err
}

func invalid(format string, args ...any) *Error {
	return &Error{Code: CodeInvalid, Message: fmt.Sprintf(format, args...), Data: map[string]string{"kind": "request"}}
}

// parseCall reads one message. After an error the call has only the id, or null if the id is
// missing or invalid.
func parseCall(raw json.RawMessage) (Call, *Error) {
	members, other := make(map[string]json.RawMessage), false
	if err := plainjson.Members(raw, func(name string, value json.RawMessage) error {
		if name == "jsonrpc" || name == "id" || name == "method" || name == "params" {
			members[name] = value
		} else {
			other = true
		}
		return nil
	}); err != nil {
		return Call{ID: null}, invalid("a message is an object, or an array of at most %d", MaxBatch)
	}
	call := Call{ID: members["id"]}
	if !validID(call.ID) {
		call.ID = null
		return call, invalid("id: want a string, an integer or null")
	}
	if err := call.read(members, other); err != nil {
		if call.ID == nil {
			call.ID = null // a caller whose message is invalid gets an error
		}
		return call, err
	}
	return call, nil
}

// read takes the members of a message; other reports that it has more of them.
func (c *Call) read(members map[string]json.RawMessage, other bool) *Error {
	var version string
	switch raw, ok := members["jsonrpc"]; {
	case !ok:
		if c.Loose = true; c.ID == nil || other {
			return invalid(`jsonrpc: want "2.0"`)
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

// validID reports whether an id is a string, an integer, null or absent.
func validID(raw json.RawMessage) bool {
	if len(raw) == 0 || raw[0] == '"' || bytes.Equal(raw, null) {
		return len(raw) <= maxID
	}
	digits := bytes.TrimPrefix(raw, []byte("-"))
	return len(digits) > 0 && len(digits) <= maxDigits && len(bytes.Trim(digits, "0123456789")) == 0
}

// split returns the messages of a batch, or the single message.
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
	list, err := plainjson.Elements(raw, MaxBatch)
	if err != nil || len(list) == 0 {
		return nil, true, invalid("a batch of none or too many: want 1 to %d", MaxBatch)
	}
	return list, true, nil
}

// tooLarge returns the error for an answer that is longer than a message may be.
func tooLarge(what string) *Error {
	return &Error{Code: CodeTooLarge, Message: fmt.Sprintf("%s has more than %d bytes: ask for less at once", what, MaxMessage), Data: map[string]string{"kind": "size"}}
}

// errorOf returns the error that the caller gets for err.
func errorOf(err error) *Error {
	if public, ok := errors.AsType[*Error](err); ok {
		return public
	}
	return &Error{Code: CodeInternal, Message: "internal error", Data: map[string]string{"kind": "internal"}}
}
