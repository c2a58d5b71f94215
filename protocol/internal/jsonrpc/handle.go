package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
)

// Handler answers a call. The caller gets an *Error unchanged, and any other error as an internal
// error without its text. notify sends the caller a notification; it is nil if the caller accepts
// none. The handler must not use it after it has returned.
type Handler func(ctx context.Context, call Call, notify func(method string, params any)) (result any, err error)

// Reply is the answer to one message.
type Reply struct {
	// Text is empty for a message without calls, only notifications.
	Text []byte
	// Error is the error of a message that is no batch.
	Error *Error
}

// Handle answers a message: a call, or a batch of calls, one after the other in their order. The
// answer has at most MaxMessage bytes. A call whose answer does not fit gets an error instead. If
// no room is left at all, handle is not called.
func Handle(ctx context.Context, raw []byte, handle Handler, notify func(method string, params any)) Reply {
	return parse(raw).answer(func(_ int, call Call) (any, error) { return handle(ctx, call, notify) })
}

// message is a parsed message: a call, or a batch of calls.
type message struct {
	calls  []Call
	faults []*Error // of each call, or nil
	batch  bool
	fault  *Error // of the whole message, or nil
}

// parse splits a message into its calls.
func parse(raw []byte) (m message) {
	var list []json.RawMessage
	list, m.batch, m.fault = split(raw)
	for _, text := range list {
		call, fault := parseCall(text)
		m.calls, m.faults = append(m.calls, call), append(m.faults, fault)
	}
	return m
}

// answer answers the calls of a message. answerTo also gets the index of each call.
func (m message) answer(answerTo func(int, Call) (any, error)) Reply {
	if m.fault != nil {
		text, _ := answer{Error: m.fault}.encode(MaxMessage)
		return Reply{text, m.fault}
	}
	var texts [][]byte
	var last *Error
	room := MaxMessage
	if m.batch {
		room -= len(m.calls) * (maxID + errorRoom) // an error of each fits
	}
	for i := range m.calls {
		a, ok := m.answerCall(i, room > 0, answerTo)
		if !ok {
			continue
		}
		var text []byte
		text, last = a.encode(room)
		room -= len(text) + 1
		texts = append(texts, text)
	}
	switch {
	case len(texts) == 0:
		return Reply{}
	case !m.batch:
		return Reply{texts[0], last}
	}
	return Reply{Text: append(append([]byte("["), bytes.Join(texts, []byte(","))...), ']')}
}

// answerCall answers one call. A call without room for its answer is not made. ok is false for a
// notification, which has no answer.
func (m message) answerCall(i int, hasRoom bool, answerTo func(int, Call) (any, error)) (a answer, ok bool) {
	call := m.calls[i]
	a = answer{ID: call.ID, Error: m.faults[i]}
	switch {
	case a.Error != nil:
	case !hasRoom:
		a.Error = tooLarge("the answer of the batch")
	default:
		var err error
		if a.Result, err = answerTo(i, call); err != nil {
			a.Result, a.Error = nil, errorOf(err)
		}
	}
	return a, m.faults[i] != nil || call.ID != nil
}

// Notification returns the text of a notification.
func Notification(method string, params any) []byte {
	text, err := Marshal(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{"2.0", method, params})
	if err != nil {
		return nil
	}
	return text
}

// parseCancel returns the id in a $/cancelRequest. ok is false for other messages.
func parseCancel(raw []byte) (id string, ok bool) {
	if !bytes.Contains(raw, []byte("$/cancelRequest")) {
		return "", false
	}
	call, fault := parseCall(bytes.TrimSpace(raw))
	if fault != nil || call.Method != "$/cancelRequest" {
		return "", false
	}
	var params struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(call.Params, &params) != nil || len(params.ID) == 0 || !validID(params.ID) {
		return "", false
	}
	return string(params.ID), true
}
