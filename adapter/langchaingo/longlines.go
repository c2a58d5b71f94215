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

// dataField begins a line with data in a stream of server-sent events.
var dataField = []byte("data:")

// LongLines returns a transport for langchaingo's client for OpenAI, which fails if a line of a
// stream is longer than 64 KiB. The transport splits a longer line, such as a call whose
// arguments arrive at once, into several deltas with the same content:
//
//	openai.WithHTTPClient(&http.Client{Transport: langchaingo.LongLines(nil)})
//
// It splits lines up to 32 MiB, and holds no more of a response than that line. Nothing else of
// a response changes. It sends requests by next; nil means [http.DefaultTransport].
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

// cutBody is the body of a response. It splits long lines of data.
type cutBody struct {
	body       io.Closer
	lines      *bufio.Reader // with a buffer as large as the longest line
	longest    int
	passesRest bool // the rest of the current line is passed on unchanged
	out        []byte
	err        error // to return after out
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
		b.readLine()
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

// readLine reads the next line into out, or the next part of a line that is passed on
// unchanged.
func (b *cutBody) readLine() {
	line, err := b.lines.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) && !b.passesRest && bytes.HasPrefix(line, dataField) {
		line, err = b.readRest(bytes.Clone(line))
		if !errors.Is(err, bufio.ErrBufferFull) {
			line = cutLine(line, b.longest)
		}
	}
	b.out, b.passesRest = line, errors.Is(err, bufio.ErrBufferFull)
	if !b.passesRest {
		b.err = err
	}
}

// readRest appends the rest of a line. If the line is longer than largestLine, it stops there
// and returns bufio.ErrBufferFull.
func (b *cutBody) readRest(line []byte) ([]byte, error) {
	for len(line) <= largestLine {
		part, err := b.lines.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
	return line, bufio.ErrBufferFull
}

// object is a JSON object, decoded one level deep.
type object = map[string]json.RawMessage

// cutLine splits a chunk of a stream of chat completions into several lines with the same
// content. It returns any other line unchanged. It keeps only the first choice, because the
// client reads no other.
func cutLine(line []byte, longest int) []byte {
	var chunk, delta object
	var choices, calls []object
	if json.Unmarshal(bytes.TrimSpace(line[len(dataField):]), &chunk) != nil ||
		json.Unmarshal(chunk["choices"], &choices) != nil || len(choices) == 0 ||
		json.Unmarshal(choices[0]["delta"], &delta) != nil || delta == nil {
		return line
	}
	var out bytes.Buffer
	emit := func(chunk any) { fmt.Fprintf(&out, "data: %s\n\n", encode(chunk)) }
	emitDelta := func(delta object) {
		emit(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta}}})
	}
	for _, name := range []string{"reasoning_content", "content"} {
		var text string
		if json.Unmarshal(delta[name], &text) == nil && text != "" {
			delete(delta, name)
			for piece := range piecesOf(text, longest/2) {
				emitDelta(object{name: encode(piece)})
			}
		}
	}
	if json.Unmarshal(delta["tool_calls"], &calls) == nil {
		delete(delta, "tool_calls")
		for _, call := range calls {
			for call := range cutCall(call, longest/2) {
				emitDelta(object{"tool_calls": encode([]object{call})})
			}
		}
	}
	// The rest, with the reason to stop and the usage, comes last.
	choices[0]["delta"] = encode(delta)
	chunk["choices"] = encode(choices[:1])
	emit(chunk)
	return out.Bytes()
}

// cutCall yields the deltas of a call. The first delta has everything but the rest of the
// arguments.
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
			function["arguments"] = encode(piece)
			call["function"] = encode(function)
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

// shorten cuts a field that is too long to be real: no tool has so long a name.
func shorten(of object, name string) {
	var text string
	if json.Unmarshal(of[name], &text) == nil && len(text) > longestName {
		of[name] = encode(strings.ToValidUTF8(text[:longestName], ""))
	}
}

// piecesOf splits a text into pieces, at least one. None is longer than longest when encoded as
// JSON.
func piecesOf(text string, longest int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for hasMore := true; hasMore; hasMore = text != "" {
			n := min(len(text), longest)
			for n > utf8.UTFMax && len(encode(text[:n])) > longest {
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

func encode(v any) json.RawMessage {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v) // v is text or decoded JSON, which always encodes
	return bytes.TrimSpace(out.Bytes())
}
