package langchaingo

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

var dataField = []byte("data:")

// LongLines returns a transport for langchaingo's client for OpenAI, which takes lines of a
// stream up to 64 KiB and fails at a longer one. It cuts a longer line up to 32 MiB, such as a
// call whose arguments come at once, into several deltas with the same content:
// openai.WithHTTPClient(&http.Client{Transport: langchaingo.LongLines(nil)}). Nothing else of a
// response changes, and it holds no more of it than that line. It sends requests by next; nil
// is [http.DefaultTransport].
func LongLines(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return longLines{next}
}

type longLines struct{ next http.RoundTripper }

func (l longLines) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(req)
	if err != nil {
		return resp, err
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "application/json" {
		resp.Body = newCutBody(resp.Body, longestLine)
		resp.ContentLength = -1
		resp.Header.Del("Content-Length")
	}
	return resp, nil
}

// cutBody is the body of a response, of which it cuts long lines of data.
type cutBody struct {
	body    io.Closer
	lines   *bufio.Reader // with a buffer as large as the longest line
	longest int
	passes  bool // the rest of this line is passed on
	out     []byte
	err     error // once out is read
}

func newCutBody(body io.ReadCloser, longest int) *cutBody {
	return &cutBody{body: body, lines: bufio.NewReaderSize(body, longest), longest: longest}
}

func (b *cutBody) Close() error { return b.body.Close() }

func (b *cutBody) Read(p []byte) (int, error) {
	for len(b.out) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.next()
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

// next reads a line, or what the buffer holds of one that is passed on.
func (b *cutBody) next() {
	line, err := b.lines.ReadSlice('\n')
	full := errors.Is(err, bufio.ErrBufferFull)
	if full && !b.passes && bytes.HasPrefix(line, dataField) {
		line = bytes.Clone(line)
		for full && len(line) <= largestLine {
			var more []byte
			more, err = b.lines.ReadSlice('\n')
			full = errors.Is(err, bufio.ErrBufferFull)
			line = append(line, more...)
		}
		if !full {
			line = cutLine(line, b.longest)
		}
	}
	if b.out, b.passes = line, full; !full {
		b.err = err
	}
}

type object = map[string]json.RawMessage

// cutLine returns lines that say the same as one, which is returned itself where it is
// none of a stream of chat completions. The client reads the first choice only.
func cutLine(line []byte, longest int) []byte {
	var chunk, delta object
	var choices, calls []object
	if json.Unmarshal(bytes.TrimSpace(line[len(dataField):]), &chunk) != nil ||
		json.Unmarshal(chunk["choices"], &choices) != nil || len(choices) == 0 ||
		json.Unmarshal(choices[0]["delta"], &delta) != nil || delta == nil {
		return line
	}
	var out bytes.Buffer
	emit := func(chunk any) { fmt.Fprintf(&out, "data: %s\n\n", encoded(chunk)) }
	says := func(delta object) {
		emit(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta}}})
	}
	for _, name := range []string{"reasoning_content", "content"} {
		var text string
		if json.Unmarshal(delta[name], &text) == nil && text != "" {
			delete(delta, name)
			for piece := range piecesOf(text, longest/2) {
				says(object{name: encoded(piece)})
			}
		}
	}
	if json.Unmarshal(delta["tool_calls"], &calls) == nil {
		delete(delta, "tool_calls")
		for _, call := range calls {
			for call := range cutCall(call, longest/2) {
				says(object{"tool_calls": encoded([]object{call})})
			}
		}
	}
	// The rest, with the reason to stop and the usage, comes last.
	choices[0]["delta"] = encoded(delta)
	chunk["choices"] = encoded(choices[:1])
	emit(chunk)
	return out.Bytes()
}

// cutCall yields the deltas of a call: the first has all but the rest of its arguments.
func cutCall(call object, longest int) iter.Seq[object] {
	return func(yield func(object) bool) {
		var function object
		var arguments string
		if json.Unmarshal(call["function"], &function) != nil || function == nil || json.Unmarshal(function["arguments"], &arguments) != nil {
			if call != nil {
				yield(call)
			}
			return
		}
		shorten(call, "id")
		shorten(function, "name")
		for piece := range piecesOf(arguments, longest) {
			function["arguments"] = encoded(piece)
			call["function"] = encoded(function)
			if !yield(call) {
				return
			}
			function = object{}
			if call = (object{"index": call["index"]}); call["index"] == nil {
				call = object{}
			}
		}
	}
}

// shorten cuts a text that the model has made up: no tool has so long a name.
func shorten(of object, name string) {
	var text string
	if json.Unmarshal(of[name], &text) == nil && len(text) > longestName {
		of[name] = encoded(strings.ToValidUTF8(text[:longestName], ""))
	}
}

// piecesOf cuts a text into pieces that are no longer as JSON, at least one.
func piecesOf(text string, longest int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for more := true; more; more = text != "" {
			n := min(len(text), longest)
			for n > utf8.UTFMax && len(encoded(text[:n])) > longest {
				n /= 2
			}
			for n < len(text) && !utf8.RuneStart(text[n]) {
				n++
			}
			if !yield(text[:n]) {
				return
			}
			text = text[n:]
		}
	}
}

func encoded(v any) json.RawMessage {
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	_ = to.Encode(v) // texts, and what was JSON before
	return bytes.TrimSpace(out.Bytes())
}
