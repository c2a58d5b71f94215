package tracelog

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/internal/tracing/line"
)

// errBroken reports a line that is no line of a trace.
var errBroken = errors.New("broken line")

// decoded is a line. value is nil for lines that are no events of a call or turn, such as messages.
type decoded struct {
	head   *line.Head
	header *line.Trace
	value  line.Line
}

// texts holds the messages and lists of tools of a trace by their digests.
type texts struct {
	messages map[string]*Message
	tools    map[string]*Tools
	size     int // bytes of the lines
}

func newTexts() *texts {
	return &texts{messages: make(map[string]*Message), tools: make(map[string]*Tools)}
}

// decode reads a line. It keeps messages and tools. Events that it does not know have no value.
func (t *texts) decode(text []byte) (decoded, error) {
	var probe struct {
		V     json.RawMessage `json:"v"`
		Event *string         `json:"event"`
	}
	if json.Unmarshal(text, &probe) != nil || probe.V == nil || probe.Event == nil {
		return decoded{}, errBroken
	}
	if v := string(probe.V); v != "1" {
		return decoded{}, fmt.Errorf("%w: version %.20s, want %d", ErrVersion, v, line.Version)
	}
	switch *probe.Event {
	case line.EventTrace:
		return readHeader(text)
	case line.EventMessage:
		return t.message(text)
	case line.EventTools:
		return t.list(text)
	}
	value := newLine(*probe.Event)
	if value == nil {
		var head line.Head
		err := unmarshal(text, &head)
		return decoded{head: &head}, err
	}
	if err := unmarshal(text, value); err != nil {
		return decoded{}, err
	}
	if call, ok := value.(*line.Call); ok && (call.Keep < 0 || call.Keep > maxKeep || call.Call == 0) {
		return decoded{}, errBroken
	}
	head := value.Header()
	if head.Turn < 0 || head.Call < 0 {
		return decoded{}, errBroken
	}
	return decoded{head: head, value: value}, nil
}

func unmarshal(text []byte, into any) error {
	if json.Unmarshal(text, into) != nil {
		return errBroken
	}
	return nil
}

func readHeader(text []byte) (decoded, error) {
	h := new(line.Trace)
	if err := unmarshal(text, h); err != nil {
		return decoded{}, err
	}
	if h.Schema != line.Schema && strings.HasPrefix(h.Schema, schemaName) {
		return decoded{}, fmt.Errorf("%w: schema version %.40q, want %s", ErrVersion, h.Schema, line.Schema)
	}
	return decoded{head: &h.Head, header: h}, nil
}

// schemaName begins the schema of each version.
const schemaName = "satchel.trace/"

// newLine returns an empty line of an event, or nil for an event without a value.
func newLine(event string) line.Line {
	switch event {
	case line.EventTurn:
		return new(line.Turn)
	case line.EventOffered:
		return new(line.Offered)
	case line.EventSuggested:
		return new(line.Suggested)
	case line.EventCall:
		return new(line.Call)
	case line.EventAnswer:
		return new(line.Answer)
	case line.EventError:
		return new(line.Error)
	case line.EventLoaded:
		return new(line.Loaded)
	case line.EventUnloaded:
		return new(line.Unloaded)
	case line.EventCleared:
		return new(line.Cleared)
	case line.EventDecision:
		return new(line.Decision)
	case line.EventApproval:
		return new(line.Approval)
	case line.EventRun:
		return new(line.Run)
	case line.EventUsed:
		return new(line.Used)
	case line.EventNotFound:
		return new(line.NotFound)
	case line.EventBreak:
		return new(line.Break)
	case line.EventDropped:
		return new(line.Dropped)
	}
	return nil
}

// message keeps a message, unless it is known.
func (t *texts) message(text []byte) (decoded, error) {
	var l line.Message
	if err := unmarshal(text, &l); err != nil {
		return decoded{}, err
	}
	if l.Digest == "" || len(l.Message) == 0 {
		return decoded{}, errBroken
	}
	d := decoded{head: &l.Head}
	if _, known := t.messages[l.Digest]; known {
		return d, nil
	}
	var value struct {
		line.MessageValue
		Content *string `json:"content"`
		Bytes   *int    `json:"bytes"`
	}
	if err := unmarshal(l.Message, &value); err != nil {
		return decoded{}, err
	}
	m := &Message{Digest: l.Digest, MessageValue: value.MessageValue}
	switch {
	case value.Content != nil:
		m.Content, m.Bytes = *value.Content, len(*value.Content)
	case value.Bytes != nil:
		m.Bytes, m.Withheld = *value.Bytes, true
	}
	t.messages[l.Digest] = m
	t.size += len(text)
	return d, nil
}

// list keeps a list of tools, unless it is known.
func (t *texts) list(text []byte) (decoded, error) {
	var l line.Tools
	if err := unmarshal(text, &l); err != nil {
		return decoded{}, err
	}
	if l.Digest == "" {
		return decoded{}, errBroken
	}
	d := decoded{head: &l.Head}
	if _, known := t.tools[l.Digest]; known {
		return d, nil
	}
	tools := &Tools{Digest: l.Digest}
	if len(l.Tools) > 0 {
		if err := unmarshal(l.Tools, &tools.Tools); err != nil {
			return decoded{}, err
		}
	}
	t.tools[l.Digest] = tools
	t.size += len(text)
	return d, nil
}

// find returns the message of a digest.
func (t *texts) find(digest string) *Message {
	m := t.messages[digest]
	if m == nil {
		m = &Message{Digest: digest, Missing: true}
		t.messages[digest] = m
	}
	return m
}
