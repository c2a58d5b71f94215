package run

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/files/collect"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/text/redact"
	"github.com/satchel-go/satchel/protocol/blobs"
)

// channel answers the calls of a program: one per line, one at a time.
type channel struct {
	ctx      context.Context
	tenant   string
	store    blobs.Store
	expiry   time.Duration
	maxBlobs int // that the program may make
	ws       workspace.Workspace
	job      any               // the answer to run.job
	report   func(text string) // called for run.progress
	hidden   *redact.Set       // values that are removed from texts
	inputs   []blobs.Info
	stop     func() // kills the program

	mu        sync.Mutex
	created   []blobs.Info
	reserved  int // blobs that the program has made or is making
	refused   int // blobs beyond maxBlobs
	summary   string
	done      bool // the program has called run.done
	result    json.RawMessage
	failure   *Failure // of run.done
	violation *Failure // set if the program broke a rule of the channel
}

// channelCall is a call of the program.
type channelCall struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// channelAnswer is the answer to a call.
type channelAnswer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *channelError   `json:"error,omitempty"`
}

// channelError is an error that the program gets.
type channelError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *channelError) Error() string { return e.Message }

// refuse returns the error for wrong parameters.
func refuse(format string, args ...any) error {
	return &channelError{-32602, fmt.Sprintf(format, args...)}
}

// serve answers calls until the program closes its end or breaks a rule of the channel.
func (c *channel) serve(calls io.Reader, answers io.Writer) {
	r := bufio.NewReaderSize(calls, readSize)
	for n := 0; ; n++ {
		line, err := readLine(r)
		switch {
		case err != nil && len(line) == 0 && !errors.Is(err, errLongLine):
			return
		case errors.Is(err, errLongLine):
			c.violate("a line of more than %d bytes", maxLine)
			return
		case err != nil:
			c.violate("half a line")
			return
		case n >= maxCalls:
			c.violate("more than %d calls", maxCalls)
			return
		}
		var call channelCall
		if json.Unmarshal(line, &call) != nil || call.Method == "" || len(call.ID) == 0 {
			c.violate("a line that is no call: %.60q", line)
			return
		}
		answer := channelAnswer{Version: "2.0", ID: call.ID}
		if answer.Result, err = c.answer(call); err != nil {
			answer.Result = nil
			if !errors.As(err, &answer.Error) {
				answer.Error = &channelError{-32603, err.Error()}
			}
		} else if answer.Result == nil {
			answer.Result = struct{}{}
		}
		text, err := json.Marshal(answer)
		if err != nil {
			c.violate("an answer that cannot be written")
			return
		}
		if _, err := answers.Write(append(text, '\n')); err != nil {
			return // the program has closed its end
		}
	}
}

var errLongLine = errors.New("line too long")

// readLine returns the next line without its line end. With io.EOF the line is not complete.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxLine+1 {
			return nil, errLongLine
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(line, []byte("\n")), err
		}
	}
}

// violate kills the program because it broke a rule of the channel. The run fails, unless the
// program has called run.done before.
func (c *channel) violate(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.done {
		c.violation = &Failure{TypePolicy, "the channel got " + fmt.Sprintf(format, args...)}
	}
	c.stop()
}

// answer returns the result of a call.
func (c *channel) answer(call channelCall) (any, error) {
	switch call.Method {
	case "run.job":
		return c.job, nil
	case "run.done":
		return nil, c.finish(call.Params)
	case "run.summary", "run.progress":
		var p struct{ Text string }
		if err := json.Unmarshal(call.Params, &p); err != nil {
			return nil, refuse("text: want a text")
		}
		if call.Method == "run.progress" {
			c.report(p.Text)
			return nil, nil
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.summary = head(p.Text, 4*maxSummary+4)
		return nil, nil
	case "blobs.create":
		return c.create(call.Params)
	case "blobs.read":
		return c.read(call.Params)
	case "blobs.list":
		list := []map[string]any{}
		for _, info := range c.readable() {
			list = append(list, map[string]any{"blob_id": info.ID, "kind": info.Kind, "size_bytes": info.Size})
		}
		return map[string]any{"blobs": list}, nil
	}
	return nil, &channelError{-32601, fmt.Sprintf("unknown method %.60q", call.Method)}
}

// finish answers run.done. It keeps the first result and ignores others.
func (c *channel) finish(params json.RawMessage) error {
	var p struct {
		Result json.RawMessage
		Error  *Failure
	}
	if err := json.Unmarshal(params, &p); err != nil || p.Result == nil && p.Error == nil {
		return refuse(`want {"result": …} or {"error": {"type", "message"}}`)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return nil
	}
	c.done, c.result, c.failure = true, p.Result, p.Error
	return nil
}

// readable returns the blobs that the program may read.
func (c *channel) readable() []blobs.Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Concat(c.inputs, c.created)
}

// read answers blobs.read.
func (c *channel) read(params json.RawMessage) (any, error) {
	var p struct {
		ID             string `json:"blob_id"`
		Offset, Length int64
	}
	if err := json.Unmarshal(params, &p); err != nil || p.Offset < 0 {
		return nil, refuse("want blob_id, offset and length")
	}
	if !slices.ContainsFunc(c.readable(), func(i blobs.Info) bool { return i.ID == p.ID }) {
		return nil, refuse("unknown blob %.60q: a run reads the blobs of input_blobs, and those that it made", p.ID)
	}
	if p.Length <= 0 || p.Length > maxBlobRead {
		p.Length = maxBlobRead
	}
	r, info, err := c.store.Open(c.ctx, c.tenant, p.ID, p.Offset, p.Length)
	if err != nil {
		return nil, refuse("unknown blob %.60q", p.ID)
	}
	defer func() { _ = r.Close() }()
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("blob %q cannot be read", p.ID)
	}
	return map[string]any{"content": base64.StdEncoding.EncodeToString(text), "kind": info.Kind, "size_bytes": info.Size}, nil
}

// create answers blobs.create.
func (c *channel) create(params json.RawMessage) (_ any, err error) {
	var p struct{ Content, Encoding, Kind, Path string }
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, refuse("want content and kind, or path")
	}
	if len(p.Kind) > maxKind || strings.ContainsFunc(p.Kind, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, refuse("kind: want a MIME type")
	}
	release, err := c.reserve()
	if err != nil {
		return nil, err
	}
	defer func() { release(err) }()
	var info blobs.Info
	switch {
	case p.Path != "":
		info, err = c.createFile(c.ctx, path.Clean(p.Path), p.Kind)
	case p.Encoding == "base64":
		var content []byte
		if content, err = base64.StdEncoding.DecodeString(p.Content); err != nil {
			return nil, refuse("content is not base64")
		}
		if utf8.Valid(content) {
			content = []byte(c.hidden.Text(string(content), 0))
		}
		info, err = c.storeBlob(c.ctx, p.Kind, bytes.NewReader(content))
	case p.Encoding == "" || p.Encoding == "utf-8":
		info, err = c.storeBlob(c.ctx, p.Kind, strings.NewReader(c.hidden.Text(p.Content, 0)))
	default:
		return nil, refuse("encoding %.20q: want utf-8 or base64", p.Encoding)
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"blob_id": info.ID, "size_bytes": info.Size}, nil
}

// reserve counts a blob that the program is going to make. The caller calls release with the error
// of the creation; after an error the blob does not count.
func (c *channel) reserve() (release func(error), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reserved >= c.maxBlobs {
		c.refused++
		return nil, &channelError{-32005, fmt.Sprintf("the limit of blobs that a run may make is %d (--max-output-blobs): put more into one", c.maxBlobs)}
	}
	c.reserved++
	return func(err error) {
		if err != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.reserved--
		}
	}, nil
}

// createFile makes a blob of a regular file in the workspace.
func (c *channel) createFile(ctx context.Context, name, kind string) (blobs.Info, error) {
	f, err := collect.Open(c.ws, name)
	if err != nil {
		return blobs.Info{}, refuse("path %.100q: want a regular file of the workspace with one link", name)
	}
	defer func() { _ = f.Close() }()
	r := bufio.NewReaderSize(f, 2*mimeHead)
	first, _ := r.Peek(mimeHead)
	found := collect.MIME(name, first)
	kind = cmp.Or(kind, found)
	if c.hidden != nil && collect.IsText(found, first) {
		return c.storeBlob(ctx, kind, &redactReader{r: r, stream: redact.Stream{Set: c.hidden}})
	}
	return c.storeBlob(ctx, kind, r)
}

// redactReader removes secrets from a text while it is read.
type redactReader struct {
	r      io.Reader
	stream redact.Stream
	ready  []byte // text without secrets that Read has not returned yet
	err    error  // of r
}

// Read implements io.Reader.
func (h *redactReader) Read(p []byte) (int, error) {
	for len(h.ready) == 0 && h.err == nil {
		part := make([]byte, readSize)
		n, err := h.r.Read(part)
		h.ready, h.err = bytes.Clone(h.stream.Add(part[:n], err != nil)), err
	}
	n := copy(p, h.ready)
	h.ready = h.ready[n:]
	if len(h.ready) > 0 {
		return n, nil
	}
	return n, h.err
}

// storeBlob stores a blob and adds it to those of the run. Its errors are for the program.
func (c *channel) storeBlob(ctx context.Context, kind string, r io.Reader) (blobs.Info, error) {
	info, err := c.store.Create(ctx, c.tenant, cmp.Or(kind, "application/octet-stream"), r, maxBlob, Expires(c.expiry))
	switch {
	case errors.Is(err, blobs.ErrQuota), errors.Is(err, blobs.ErrTooLarge):
		return info, &channelError{-32005, err.Error()}
	case err != nil:
		return info, errors.New("the blob cannot be stored")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.created = append(c.created, info)
	return info, nil
}

// openPipes opens the two pipes of the channel. The program gets childEnds, one end of each.
func openPipes() (childEnds []*os.File, answers, calls *os.File, err error) {
	read, answers, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	calls, write, err := os.Pipe()
	if err != nil {
		_, _ = read.Close(), answers.Close()
		return nil, nil, nil, err
	}
	return []*os.File{read, write}, answers, calls, nil
}
