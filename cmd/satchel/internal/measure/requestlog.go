package measure

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// ErrLine reports a line that is no request.
var ErrLine = errors.New("not a model request")

// Entry is one request of a log.
type Entry struct {
	// Line is its line, from 1.
	Line int
	// Key names the conversation that it belongs to, "" where nothing says so.
	Key string
	// At is when it was sent, the zero time where nothing says so.
	At      time.Time
	Request prompt.Request
	// Prompt and Cached are the tokens that the provider reported, 0 if the line does not say
	// so. They are not checked.
	Prompt, Cached int
	// cleared is set if the line is an event about a cleared text, and no request.
	cleared *clearedEvent
}

// line holds the fields of a line that the report needs. A line is a request, or an object that holds
// one as body or request beside its time and usage.
type line struct {
	requestBody

	Body    *requestBody `json:"body"`    // OpenAI's batch format
	Request *requestBody `json:"request"` // most others

	Time      json.RawMessage `json:"time"`
	Timestamp json.RawMessage `json:"timestamp"`
	Usage     json.RawMessage `json:"usage"`
	Response  json.RawMessage `json:"response"`
}

// requestBody holds the fields of a request of all three formats.
type requestBody struct {
	Messages  []json.RawMessage `json:"messages"`
	Tools     []json.RawMessage `json:"tools"`
	Functions []json.RawMessage `json:"functions"`

	// System is the system text of the messages format, Instructions that of responses.
	System       json.RawMessage `json:"system"`
	Instructions json.RawMessage `json:"instructions"`
	Input        json.RawMessage `json:"input"`
	Previous     json.RawMessage `json:"previous_response_id"`

	Session        json.RawMessage `json:"session"`
	SessionID      json.RawMessage `json:"session_id"`
	ConversationID json.RawMessage `json:"conversation_id"`
	CacheKey       json.RawMessage `json:"prompt_cache_key"`
	User           json.RawMessage `json:"user"`
}

// holds reports whether the body has messages or input.
func (b *requestBody) holds() bool { return len(b.Messages) > 0 || has(b.Input) }

// has reports whether a field is there with a value.
func has(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// ReadLog reads a log, request by request. key is the field that names the conversation, of the
// line or of the request in it. If it is "", Read takes the first that is there of session,
// session_id, conversation_id, prompt_cache_key and user. Blank lines are skipped. Any other
// line that is no request ends the log with an error that wraps ErrLine and names the line.
// Fields beside a request count only if they have the expected type.
//
// A line may also be the JSON of a [core.Event]. Those of core.TextCleared are entries without a
// request, and others are skipped.
//
// Messages and tools that a log repeats are held once, however many requests have them: more
// than 256 MiB of them is an error.
func ReadLog(r io.Reader, key string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		lines, known := bufio.NewScanner(r), newKnown()
		lines.Buffer(nil, maxLine)
		n, entries := 0, 0
		for lines.Scan() {
			n++
			text := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\xef\xbb\xbf")))
			if len(text) == 0 {
				continue
			}
			cleared, isEvent := eventOf(text)
			if isEvent && cleared == nil {
				continue
			}
			if isEvent && !yield(Entry{Line: n, Key: cleared.Key.Session, cleared: cleared}, nil) {
				return
			}
			if isEvent {
				continue
			}
			e, err := known.parse(text, key)
			if err != nil {
				yield(Entry{}, fmt.Errorf("line %d: %w", n, err))
				return
			}
			e.Line = n
			if entries++; !yield(e, nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(Entry{}, fmt.Errorf("line %d: %w: longer than %d bytes", n+1, ErrLine, maxLine))
		case err != nil:
			yield(Entry{}, fmt.Errorf("line %d: %w", n+1, err))
		case entries == 0:
			yield(Entry{}, fmt.Errorf("%w: the log is empty", ErrLine))
		}
	}
}

func (k *logReader) parse(raw []byte, key string) (Entry, error) {
	if raw[0] != '{' {
		return Entry{}, fmt.Errorf("%w: it is no JSON object", ErrLine)
	}
	l, err := lineOf(raw)
	if err != nil {
		return Entry{}, err
	}
	body := &l.requestBody
	for _, inner := range []*requestBody{l.Request, l.Body} {
		if inner != nil && inner.holds() {
			body = inner
		}
	}
	if !body.holds() {
		return Entry{}, fmt.Errorf("%w: it has no messages and no input", ErrLine)
	}
	if has(body.Previous) {
		return Entry{}, fmt.Errorf("%w: previous_response_id: what came before is known to the provider only", ErrLine)
	}
	request, err := k.request(body)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Request: request, At: timeOf(l.Time, l.Timestamp), Key: keyOf(&l.requestBody, body)}
	if key != "" {
		e.Key = keyOfField(key, raw)
	}
	e.Prompt, e.Cached = usageOf(l.Usage, l.Response)
	return e, nil
}

// lineOf reads a line. A request or body that is no object is something else.
func lineOf(raw []byte) (*line, error) {
	l := new(line)
	var kind *json.UnmarshalTypeError
	switch err := json.Unmarshal(raw, l); {
	case err == nil:
		return l, nil
	case !errors.As(err, &kind):
		return nil, fmt.Errorf("%w: %w", ErrLine, err)
	}
	// What does not fit was left out; lists may not be.
	for _, object := range []json.RawMessage{raw, fieldsOf(raw)["request"], fieldsOf(raw)["body"]} {
		fields := fieldsOf(object)
		for _, name := range []string{"messages", "tools", "functions"} {
			if value := fields[name]; len(value) > 0 && value[0] != '[' && string(value) != "null" {
				return nil, fmt.Errorf("%w: %s is no list", ErrLine, name)
			}
		}
	}
	return l, nil
}

// keyOf finds the conversation in the line or in the request.
func keyOf(places ...*requestBody) string {
	for _, name := range []func(*requestBody) json.RawMessage{
		func(b *requestBody) json.RawMessage { return b.Session },
		func(b *requestBody) json.RawMessage { return b.SessionID },
		func(b *requestBody) json.RawMessage { return b.ConversationID },
		func(b *requestBody) json.RawMessage { return b.CacheKey },
		func(b *requestBody) json.RawMessage { return b.User },
	} {
		for _, b := range places {
			if key := keyText(name(b)); key != "" {
				return key
			}
		}
	}
	return ""
}

// keyOfField finds the conversation in the field of a name.
func keyOfField(name string, raw []byte) string {
	fields := fieldsOf(raw)
	for _, in := range []map[string]json.RawMessage{fields, fieldsOf(fields["body"]), fieldsOf(fields["request"])} {
		if key := keyText(in[name]); key != "" {
			return key
		}
	}
	return ""
}

func keyText(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var key string
	if json.Unmarshal(raw, &key) != nil {
		return string(raw)
	}
	return key
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
