package protocol

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
)

// events is a stream of server-sent events.
type events struct {
	w    http.ResponseWriter
	mu   sync.Mutex
	over bool
}

// send writes an event; with last nothing follows.
func (e *events) send(text []byte, last bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return
	}
	e.over = last
	_, _ = e.w.Write(text)
	_ = http.NewResponseController(e.w).Flush()
}

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
