package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
)

// Handler answers a call. An error that is an *Error is sent as it is; any other is sent as an
// internal error without its text. notify sends a notification to the caller, if it accepts
// any. It never fails and must not be used after the handler has returned.
type Handler func(ctx context.Context, call Call, notify func(method string, params any)) (result any, err error)

// Reply is the answer to one message.
type Reply struct {
	// Text is empty when only notifications were sent.
	Text []byte
	// Error is the error of a message that is no batch.
	Error *Error
}

// Handle answers a message: a call, or a batch of calls, which are answered in
// their order and one after the other. The answer has at most MaxMessage bytes: a call
// whose answer does not fit is answered with an error, and is not made if nothing fits.
func Handle(ctx context.Context, raw []byte, handle Handler, notify func(method string, params any)) Reply {
	return parse(raw).answer(func(_ int, call Call) (any, error) { return handle(ctx, call, notify) })
}

// message is a parsed message: a call, or a batch of calls.
type message struct {
	calls  []Call
	faults []*Error // of each call, nil where there is none
	batch  bool
	fault  *Error // of the whole
}

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
	for i, call := range m.calls {
		a := answer{ID: call.ID, Error: m.faults[i]}
		if a.Error == nil && room <= 0 {
			if a.Error = tooLarge("the answer of the batch"); call.ID == nil {
				continue
			}
		} else if a.Error == nil {
			result, err := answerTo(i, call)
			if call.ID == nil {
				continue
			}
			if a.Result = result; err != nil {
				a.Result, a.Error = nil, errorOf(err)
			}
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

// cancelled returns the id that a $/cancelRequest names.
func cancelled(raw []byte) (id string, ok bool) {
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
