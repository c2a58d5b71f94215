package prompt

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/satchel-go/satchel/internal/text/plainjson"
)

// maxBytes bounds a capture that is read.
const maxBytes = 256 << 20

// file is the written form. Most of a request is in the request before it too,
// so texts, lists of tools and messages are tables, and a request is a list of
// indexes into them.
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
	Role    string `json:"role"`
	Content int    `json:"content"`
	Calls   []Call `json:"tool_calls,omitempty"`
	CallID  string `json:"tool_call_id,omitempty"`
	Name    string `json:"name,omitempty"`
}

type fileRequest struct {
	Turn     int   `json:"turn"`
	Tools    int   `json:"tools"`
	Messages []int `json:"messages"`
}

// Read reads the captures of a file, which stand one after the other. The error
// wraps ErrCapture where the content is none.
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
		messages[i] = Message{Role: m.Role, Content: f.Texts[m.Content], Calls: m.Calls, CallID: m.CallID, Name: m.Name}
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

// Write writes a capture. The same capture is always the same bytes.
func (c *Capture) Write(w io.Writer) error {
	f := file{Scenario: c.Scenario, System: c.System, Variant: c.Variant}
	texts, toolsets, messages := newTable(), newTable(), newTable()
	for _, r := range c.Requests {
		tools := r.Tools
		if tools == nil {
			tools = []Tool{}
		}
		set, fresh, err := toolsets.of(tools)
		if err != nil {
			return err
		}
		if fresh {
			f.Toolsets = append(f.Toolsets, json.RawMessage(toolsets.last))
		}
		request := fileRequest{Turn: r.Turn, Tools: set, Messages: []int{}}
		for _, m := range r.Messages {
			text, fresh, err := texts.of(m.Content)
			if err != nil {
				return err
			}
			if fresh {
				f.Texts = append(f.Texts, m.Content)
			}
			written := fileMessage{Role: m.Role, Content: text, Calls: m.Calls, CallID: m.CallID, Name: m.Name}
			at, fresh, err := messages.of(written)
			if err != nil {
				return err
			}
			if fresh {
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

// table gives equal values one index.
type table struct {
	index map[string]int
	last  []byte // the value that was new last, as JSON
}

func newTable() *table { return &table{index: make(map[string]int)} }

func (t *table) of(v any) (at int, fresh bool, err error) {
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
