package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// requestLog is the file of --request-log. It has a line for each request of the model and for each
// text that was cleared, as cache-report reads them. A nil log writes nothing.
type requestLog struct {
	session string
	mu      sync.Mutex
	file    *os.File
	err     error // the first error of a write
}

// openRequestLog opens a log of a session to append to. It returns nil for no path.
func openRequestLog(path, session string) (*requestLog, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--request-log: %w", err)
	}
	return &requestLog{session: session, file: file}, nil
}

// loggedRequest is the line of a request.
type loggedRequest struct {
	Session string          `json:"session"`
	Time    time.Time       `json:"time"`
	Request json.RawMessage `json:"request"`
}

// transport returns the transport for the requests of a helper, or of the agent itself if the name
// is "".
func (l *requestLog) transport(helper string) http.RoundTripper {
	if l == nil {
		return http.DefaultTransport
	}
	name := l.session
	if helper != "" {
		name += "/" + helper
	}
	return &loggingTransport{l, name}
}

// event writes the events that cache-report reads.
func (l *requestLog) event(e core.Event) {
	if l != nil && e.Kind == core.TextCleared && e.Tokens > 0 { // one that prices have decided
		l.write(e)
	}
}

func (l *requestLog) write(line any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := json.NewEncoder(l.file).Encode(line); err != nil && l.err == nil {
		l.err = fmt.Errorf("--request-log: %w", err)
	}
}

// close closes the file. It returns the first error of a write too.
func (l *requestLog) close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.file.Close(); err != nil && l.err == nil {
		l.err = fmt.Errorf("--request-log: %w", err)
	}
	return l.err
}

// loggingTransport writes the bodies of requests to a log.
type loggingTransport struct {
	log     *requestLog
	session string
}

// RoundTrip implements [http.RoundTripper].
func (t *loggingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return http.DefaultTransport.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	session := t.session
	if key, ok := satchel.KeyFrom(r.Context()); ok { // a fork is a conversation of its own
		if at := strings.Index(key.Agent, "/fork:"); at >= 0 {
			session += key.Agent[at:]
		}
	}
	if json.Valid(body) {
		t.log.write(loggedRequest{session, time.Now().UTC(), body})
	}
	sent := r.Clone(r.Context())
	sent.Body = io.NopCloser(bytes.NewReader(body))
	return http.DefaultTransport.RoundTrip(sent)
}
