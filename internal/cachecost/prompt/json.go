package prompt

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/satchel-go/satchel/internal/text/plainjson"
)

// file is the JSON form of a capture. A request repeats most of the previous one, so texts, lists
// of tools and messages are in tables, and a request is a list of indexes.
type file struct {
	Scenario string            `json:"scenario"`
	System   string            `json:"system"`
	Variant  string            `json:"variant"`
	Texts    []string          `json:"texts"`
	Toolsets []json.RawMessage `json:"toolsets"`
	Messages []fileMessage     `json:"messages"`
	Requests []fileRequest     `json:"requests"`
}

type fileMessage struct {
	Role    string  `json:"role"`
	Content int     `json:"content"`
	Media   []Media `json:"media,omitempty"`
	Calls   []Call  `json:"tool_calls,omitempty"`
	CallID  string  `json:"tool_call_id,omitempty"`
	Name    string  `json:"name,omitempty"`
}

type fileRequest struct {
	Turn     int   `json:"turn"`
	Tools    int   `json:"tools"`
	Messages []int `json:"messages"`
}

// Read reads all captures of a file, which follow each other. The error wraps ErrCapture if there
// is no capture, or a bad one.
func Read(r io.Reader) ([]*Capture, error) {
	limited := &io.LimitedReader{R: r, N: maxBytes}
	d := json.NewDecoder(limited)
	var all []*Capture
	for {
		var f file
		err := d.Decode(&f)
		if errors.Is(err, io.EOF) && limited.N > 0 && len(all) > 0 {
			return all, nil
		}
		if limited.N <= 0 {
			return nil, fmt.Errorf("%w: longer than %d bytes", ErrCapture, maxBytes)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCapture, err)
		}
		c, err := f.expand()
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
}

func (f *file) expand() (*Capture, error) {
	c := &Capture{Scenario: f.Scenario, System: f.System, Variant: f.Variant}
	toolsets := make([][]Tool, len(f.Toolsets))
	for i, raw := range f.Toolsets {
		if err := json.Unmarshal(raw, &toolsets[i]); err != nil {
			return nil, fmt.Errorf("%w: toolset %d: %w", ErrCapture, i, err)
		}
	}
	messages := make([]Message, len(f.Messages))
	for i, m := range f.Messages {
		if m.Content < 0 || m.Content >= len(f.Texts) {
			return nil, fmt.Errorf("%w: message %d has text %d of %d", ErrCapture, i, m.Content, len(f.Texts))
		}
		messages[i] = Message{Role: m.Role, Content: f.Texts[m.Content], Media: m.Media, Calls: m.Calls, CallID: m.CallID, Name: m.Name}
	}
	for i, r := range f.Requests {
		if len(toolsets) > 0 && (r.Tools < 0 || r.Tools >= len(toolsets)) {
			return nil, fmt.Errorf("%w: request %d has toolset %d of %d", ErrCapture, i, r.Tools, len(toolsets))
		}
		request := Request{Turn: r.Turn}
		if len(toolsets) > 0 {
			request.Tools = toolsets[r.Tools]
		}
		for _, m := range r.Messages {
			if m < 0 || m >= len(messages) {
				return nil, fmt.Errorf("%w: request %d has message %d of %d", ErrCapture, i, m, len(messages))
			}
			request.Messages = append(request.Messages, messages[m])
		}
		c.Requests = append(c.Requests, request)
	}
	if len(c.Requests) == 0 {
		return nil, fmt.Errorf("%w: it has no requests", ErrCapture)
	}
	return c, nil
}

// Write writes a capture. It writes the same bytes for the same capture.
func (c *Capture) Write(w io.Writer) error {
	f := file{Scenario: c.Scenario, System: c.System, Variant: c.Variant}
	texts, toolsets, messages := newTable(), newTable(), newTable()
	for _, r := range c.Requests {
		tools := r.Tools
		if tools == nil {
			tools = []Tool{}
		}
		set, isNew, err := toolsets.indexOf(tools)
		if err != nil {
			return err
		}
		if isNew {
			f.Toolsets = append(f.Toolsets, json.RawMessage(toolsets.last))
		}
		request := fileRequest{Turn: r.Turn, Tools: set, Messages: []int{}}
		for _, m := range r.Messages {
			text, isNew, err := texts.indexOf(m.Content)
			if err != nil {
				return err
			}
			if isNew {
				f.Texts = append(f.Texts, m.Content)
			}
			written := fileMessage{Role: m.Role, Content: text, Media: m.Media, Calls: m.Calls, CallID: m.CallID, Name: m.Name}
			at, isNew, err := messages.indexOf(written)
			if err != nil {
				return err
			}
			if isNew {
				f.Messages = append(f.Messages, written)
			}
			request.Messages = append(request.Messages, at)
		}
		f.Requests = append(f.Requests, request)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(f)
}

// table assigns indexes to values, the same one to equal values.
type table struct {
	index map[string]int // by the value's JSON
	last  []byte         // JSON of the latest new value
}

func newTable() *table { return &table{index: make(map[string]int)} }

// indexOf returns the index of a value. isNew reports that it was not in the table before.
func (t *table) indexOf(v any) (at int, isNew bool, err error) {
	key, err := plainjson.Encode(v)
	if err != nil {
		return 0, false, fmt.Errorf("write capture: %w", err)
	}
	if at, ok := t.index[key]; ok {
		return at, false, nil
	}
	t.index[key], t.last = len(t.index), []byte(key)
	return len(t.index) - 1, true, nil
}
