package protocol

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
)

// events writes a stream of server-sent events.
type events struct {
	w      http.ResponseWriter
	mu     sync.Mutex
	closed bool // the last event is written
}

// send writes an event. After the last one it drops all others.
func (e *events) send(text []byte, last bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.closed = last
	_, _ = e.w.Write(text)
	_ = http.NewResponseController(e.w).Flush()
}

// serveEvents answers a message with a stream: the notifications of the call, then its answer.
// A comment every pingEvery keeps the stream open.
func serveEvents(w http.ResponseWriter, r *http.Request, raw []byte, handle jsonrpc.Handler) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	e := &events{w: w}
	done := make(chan struct{})
	var pinging sync.WaitGroup
	pinging.Go(func() {
		ticker := time.NewTicker(pingEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				e.send([]byte(": still here\n\n"), false)
			case <-done:
				return
			}
		}
	})
	reply := jsonrpc.Handle(r.Context(), raw, handle, func(method string, params any) {
		e.send(fmt.Appendf(nil, "data: %s\n\n", jsonrpc.Notification(method, params)), false)
	})
	close(done)
	pinging.Wait()
	if len(reply.Text) > 0 {
		e.send(fmt.Appendf(nil, "data: %s\n\n", reply.Text), true)
	}
}
