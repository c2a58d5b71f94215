// Package requestlog reads logs of chat completion requests in the OpenAI format,
// one JSON object a line.
package requestlog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/satchel-go/satchel/benchmark/capture"
)

// ErrLine reports a line that is no request.
var ErrLine = errors.New("not a chat completion request")

// maxLine bounds one request, in bytes.
const maxLine = 64 << 20

// Entry is one request of a log.
type Entry struct {
	// Line is its line, from 1.
	Line int
	// Key names the conversation that it belongs to, "" where nothing says so.
	Key string
	// At is when it was sent, the zero time where nothing says so.
	At      time.Time
	Model   string
	Request capture.Request
	// Prompt and Cached are the tokens that the provider reported, if the line has
	// its usage.
	Prompt, Cached int
}

// envelope are the places where loggers put a request and what they know of it.
type envelope struct {
	Body    json.RawMessage `json:"body"`    // OpenAI's batch format
	Request json.RawMessage `json:"request"` // most others

	Time      json.RawMessage `json:"time"`
	Timestamp json.RawMessage `json:"timestamp"`
	Usage     *usage          `json:"usage"`
	Response  struct {
		Usage *usage `json:"usage"`
		Body  struct {
			Usage *usage `json:"usage"`
		} `json:"body"`
	} `json:"response"`
}

type usage struct {
	Prompt  int `json:"prompt_tokens"`
	Details struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// Read reads a log. key is the field that names the conversation, of the line or
// of the request in it; with "" it is the first that is there of session,
// session_id, conversation_id, prompt_cache_key and user. Blank lines are left
// out; any other line that is no request is an error that wraps ErrLine and names
// the line.
func Read(r io.Reader, key string) ([]Entry, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var entries []Entry
	n := 0
	for lines.Scan() {
		n++
		line := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\xef\xbb\xbf")))
		if len(line) == 0 {
			continue
		}
		e, err := parse(line, key)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		e.Line = n
		entries = append(entries, e)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d: %w: longer than %d bytes", n+1, ErrLine, maxLine)
	} else if err != nil {
		return nil, fmt.Errorf("line %d: %w", n+1, err)
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("%w: the log is empty", ErrLine)
	}
	return entries, nil
}

func parse(line []byte, key string) (Entry, error) {
	if line[0] != '{' {
		return Entry{}, fmt.Errorf("%w: it is no JSON object", ErrLine)
	}
	var outer envelope
	if err := json.Unmarshal(line, &outer); err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrLine, err)
	}
	body := line
	for _, inner := range []json.RawMessage{outer.Body, outer.Request} {
		if bytes.HasPrefix(inner, []byte("{")) {
			body = inner
			break
		}
	}
	var b requestBody
	if err := json.Unmarshal(body, &b); err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrLine, err)
	}
	if len(b.Messages) == 0 {
		return Entry{}, fmt.Errorf("%w: it has no messages", ErrLine)
	}
	e := Entry{Model: b.Model, Key: keyOf(key, line, body), At: timeOf(outer.Time, outer.Timestamp)}
	for _, u := range []*usage{outer.Usage, outer.Response.Usage, outer.Response.Body.Usage} {
		if u != nil {
			e.Prompt, e.Cached = u.Prompt, u.Details.Cached
		}
	}
	e.Request.Tools = b.tools()
	for _, m := range b.Messages {
		message, err := m.message()
		if err != nil {
			return Entry{}, err
		}
		e.Request.Messages = append(e.Request.Messages, message)
	}
	return e, nil
}

// keyOf finds the conversation in the line or in the request.
func keyOf(key string, objects ...[]byte) string {
	names := []string{key}
	if key == "" {
		names = []string{"session", "session_id", "conversation_id", "prompt_cache_key", "user"}
	}
	for _, name := range names {
		for _, object := range objects {
			var fields map[string]json.RawMessage
			if json.Unmarshal(object, &fields) != nil || len(fields[name]) == 0 {
				continue
			}
			var text string
			if json.Unmarshal(fields[name], &text) != nil {
				text = string(fields[name])
			}
			if text != "" && text != "null" {
				return text
			}
		}
	}
	return ""
}

// timeOf reads RFC 3339, or seconds or milliseconds since 1970.
func timeOf(raws ...json.RawMessage) time.Time {
	for _, raw := range raws {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			if t, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(text)); err == nil {
				return t
			}
		}
		var n float64
		if json.Unmarshal(raw, &n) == nil && n > 0 && n < 1e14 {
			if n > 1e11 {
				n /= 1000
			}
			return time.Unix(0, int64(n*1e9))
		}
	}
	return time.Time{}
}
