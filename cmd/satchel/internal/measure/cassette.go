package measure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/files/durable"
)

// cassetteVersion is the version of the form of a file.
const cassetteVersion = 1

// cassettes is a directory of recorded conversations. recordCassettes and replayCassettes open it. A nil value neither
// records nor replays.
type cassettes struct {
	path string
	root *os.Root
	next http.RoundTripper // nil where recorded exchanges are replayed
	key  string            // is left out of requests and responses
}

// recordCassettes opens a directory, which it makes if it is missing, to record into. next sends the
// requests. key is left out of everything that is written.
func recordCassettes(dir, key string, next http.RoundTripper) (*cassettes, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &cassettes{path: dir, root: root, next: next, key: key}, nil
}

// replayCassettes opens a directory of recorded conversations. A directory without any is an error.
func replayCassettes(dir string) (*cassettes, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if files, err := fs.Glob(root.FS(), "*"+extension); err != nil || len(files) == 0 {
		return nil, errors.Join(fmt.Errorf("%s has no cassettes: --record DIR writes them", dir), err, root.Close())
	}
	return &cassettes{path: dir, root: root}, nil
}

// Close closes the directory.
func (d *cassettes) Close() error {
	if d == nil {
		return nil
	}
	return d.root.Close()
}

// Models returns the models that the recorded requests name, each once, by the order of the files.
// Files that cannot be read are left out.
func (d *cassettes) Models() []string {
	var models []string
	seen := map[string]bool{}
	for _, recorded := range d.all() {
		for _, e := range recorded.Exchanges {
			var body struct{ Model string }
			if json.Unmarshal(e.Request, &body) == nil && body.Model != "" && !seen[body.Model] {
				seen[body.Model] = true
				models = append(models, body.Model)
			}
		}
	}
	return models
}

// all returns the cassettes that can be read, by their names.
func (d *cassettes) all() iter.Seq2[string, tapeContent] {
	return func(yield func(string, tapeContent) bool) {
		entries, err := fs.ReadDir(d.root.FS(), ".")
		if err != nil {
			return
		}
		for _, entry := range entries {
			name, ok := strings.CutSuffix(entry.Name(), extension)
			if !ok {
				continue
			}
			if recorded, err := d.read(name); err == nil && !yield(name, recorded) {
				return
			}
		}
	}
}

// Open opens the cassette of a conversation. name is that of a file, without its extension. The error
// names the file. A conversation that was not recorded fails at its first request, with the difference
// from the nearest one.
func (d *cassettes) Open(name string) (*cassette, error) {
	if !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) {
		return nil, fmt.Errorf("cassette %q: want a file name", name)
	}
	c := &cassette{dir: d, name: name, tapeContent: tapeContent{Version: cassetteVersion}}
	if d.next != nil {
		return c, nil
	}
	recorded, err := d.read(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	c.tapeContent, c.used, c.isMissing = recorded, make([]bool, len(recorded.Exchanges)), err != nil
	return c, nil
}

// extension is that of the files.
const extension = ".json"

// file returns the path of a cassette, for messages.
func (d *cassettes) file(name string) string { return filepath.Join(d.path, name+extension) }

// tapeContent is the form of a file.
type tapeContent struct {
	Version   int            `json:"v"`
	Exchanges []tapeExchange `json:"exchanges"`
}

// tapeExchange is a request with its response, or with the error of the connection.
type tapeExchange struct {
	Request     json.RawMessage `json:"request"`
	Status      int             `json:"status,omitempty"`
	ContentType string          `json:"content_type,omitempty"`
	Response    string          `json:"response,omitempty"`
	Bytes       []byte          `json:"response_bytes,omitempty"` // in place of Response if it is not UTF-8
	Error       string          `json:"error,omitempty"`
}

// read returns the content of a file. Errors name it.
func (d *cassettes) read(name string) (recorded tapeContent, err error) {
	data, err := durable.Read(d.root, name+extension, maxCassette)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return recorded, err
	case err == nil:
		err = json.Unmarshal(data, &recorded)
	}
	if err == nil && recorded.Version != cassetteVersion {
		err = fmt.Errorf("it has version %d, and this program reads version %d", recorded.Version, cassetteVersion)
	}
	for i, e := range recorded.Exchanges {
		if err == nil && (len(e.Request) == 0 || e.Status == 0 && e.Error == "") {
			err = fmt.Errorf("exchange %d has no request or no response", i+1)
		}
	}
	if err != nil {
		return recorded, fmt.Errorf("cassette %s is broken: %w", d.file(name), err)
	}
	return recorded, nil
}

// cassette is the transport of one conversation. It records its exchanges, or answers with recorded
// ones. Its methods may be called concurrently.
type cassette struct {
	dir  *cassettes
	name string

	isMissing bool // nothing was recorded

	mu          sync.Mutex
	tapeContent tapeContent
	used        []bool // which exchanges were replayed
	err         error  // the first difference
}

// RoundTrip implements [http.RoundTripper].
func (c *cassette) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	if c.dir.next == nil {
		return c.replay(r, body)
	}
	return c.record(r, body)
}

// record sends a request and keeps the exchange. A request that the caller has cancelled is not kept.
func (c *cassette) record(r *http.Request, body []byte) (*http.Response, error) {
	sent := r.Clone(r.Context())
	if r.Body != nil {
		sent.Body = io.NopCloser(bytes.NewReader(body))
	}
	e := tapeExchange{Request: c.dir.requestOf(body)}
	resp, err := c.dir.next.RoundTrip(sent)
	var answer []byte
	if err == nil {
		answer, err = io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
		_ = resp.Body.Close()
		if err == nil && len(answer) > maxResponse {
			err = fmt.Errorf("the response has more than %d MiB", maxResponse>>20)
		}
	}
	if r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	if err != nil {
		e.Error = c.dir.withoutKey(err.Error())
		c.add(e)
		return nil, err
	}
	e.Status, e.ContentType = resp.StatusCode, c.dir.withoutKey(resp.Header.Get("Content-Type"))
	if utf8.Valid(answer) {
		e.Response = c.dir.withoutKey(string(answer))
	} else {
		e.Bytes = []byte(c.dir.withoutKey(string(answer)))
	}
	c.add(e)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(answer)), int64(len(answer))
	return resp, nil
}

func (c *cassette) add(e tapeExchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tapeContent.Exchanges = append(c.tapeContent.Exchanges, e)
}

// requestOf returns a body as JSON without the key. A body that is not JSON becomes a string.
func (d *cassettes) requestOf(body []byte) json.RawMessage {
	text := d.withoutKey(string(body))
	if !json.Valid([]byte(text)) {
		quoted, _ := json.Marshal(text) //nolint:errchkjson // a string
		return quoted
	}
	return json.RawMessage(text)
}

// withoutKey replaces the key in a text. A short key is a placeholder, as endpoints without keys get.
func (d *cassettes) withoutKey(text string) string {
	if len(d.key) < minKey {
		return text
	}
	text = strings.ReplaceAll(text, d.key, "[key]")
	if quoted, err := json.Marshal(d.key); err == nil { // as JSON has it, if it has characters to escape
		text = strings.ReplaceAll(text, string(quoted[1:len(quoted)-1]), "[key]")
	}
	return text
}

// replay answers a request as it was answered when it was recorded. Requests of conversations that
// ran side by side may come in another order.
func (c *cassette) replay(r *http.Request, body []byte) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent := c.dir.requestOf(body)
	first := -1
	for i, e := range c.tapeContent.Exchanges {
		if c.used[i] {
			continue
		}
		if first < 0 {
			first = i
		}
		if equalJSON(e.Request, sent) {
			c.used[i] = true
			return e.response(r)
		}
	}
	diff := &cassetteDifference{File: c.dir.file(c.name), Request: len(c.tapeContent.Exchanges) + 1}
	switch {
	case first >= 0:
		diff.Request = first + 1
		recorded := c.tapeContent.Exchanges[first].Request
		diff.Recorded, diff.Sent = difference(recorded, sent)
		diff.IsResult = resultDiffers(recorded, sent)
	case c.isMissing:
		diff.Nearest, diff.Recorded, diff.Sent = c.dir.nearest(sent)
	default:
		_, diff.Sent = difference(nil, sent)
	}
	if c.err == nil {
		c.err = diff
	}
	return nil, diff
}

// response returns a recorded response.
func (e tapeExchange) response(r *http.Request) (*http.Response, error) {
	if e.Status == 0 {
		return nil, errors.New(e.Error)
	}
	body := e.Bytes
	if body == nil {
		body = []byte(e.Response)
	}
	header := http.Header{}
	if e.ContentType != "" {
		header.Set("Content-Type", e.ContentType)
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status)), StatusCode: e.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}, nil
}

// Err returns the first difference between a request and the recorded ones, which frameworks wrap or
// replace.
func (c *cassette) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Save writes what was recorded, and replaces an earlier recording. It does nothing while exchanges
// are replayed.
func (c *cassette) Save() error {
	if c.dir.next == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(c.tapeContent); err != nil {
		return fmt.Errorf("cassette %s: %w", c.dir.file(c.name), err)
	}
	fresh := durable.Fresh("new.")
	err := durable.WriteNew(c.dir.root, fresh, false, func(w io.Writer) error {
		_, err := w.Write(data.Bytes())
		return err
	})
	if err == nil {
		if err = c.dir.root.Rename(fresh, c.name+extension); err != nil {
			_ = c.dir.root.Remove(fresh)
		}
	}
	if err != nil {
		return fmt.Errorf("cassette %s: %w", c.dir.file(c.name), err)
	}
	return nil
}
