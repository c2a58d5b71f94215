package protocol

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/satchel-go/satchel/protocol/jsonrpc"
)

// The bounds of HTTP.
const (
	maxHeaders  = 32 << 10
	headerWait  = 10 * time.Second
	bodyWait    = time.Minute
	blobWait    = 10 * time.Minute
	refusedWait = time.Second      // for the rest of a request that is refused
	writeWait   = 30 * time.Second // until something of what is written is taken
	maxRequests = 256
	pingEvery   = 15 * time.Second
)

// Handler answers HTTP: POST /rpc, POST /blobs, GET /blobs/<id>, GET /healthz and
// GET /metrics. It checks Origin, Host and the token of each request. The end of a
// request ends its call.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/rpc", s.Messages(s.serveRPC))
	mux.Handle("/blobs", s.guarded(http.MethodPost, s.serveUpload))
	mux.Handle("/blobs/{id}", s.guarded(http.MethodGet, s.serveBlob))
	mux.Handle("/metrics", s.guarded(http.MethodGet, s.serveMetrics))
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	return mux
}

// Messages is the door of another protocol on this server, with what holds at the
// door of Handler: it lets POST requests of application/json through whose Origin,
// Host and token are right, 256 at once with those of Handler. Their bodies, of at
// most 16 MiB, have been read.
func (s *Server) Messages(serve func(http.ResponseWriter, *http.Request, Principal)) http.Handler {
	return s.guarded(http.MethodPost, func(w http.ResponseWriter, r *http.Request, who Principal) {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			http.Error(w, "want Content-Type: application/json", http.StatusUnsupportedMediaType)
			return
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyWait))
		raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, jsonrpc.MaxMessage))
		var long *http.MaxBytesError
		switch {
		case errors.As(err, &long):
			writeError(w, http.StatusRequestEntityTooLarge, fault(jsonrpc.CodeInvalid, "request", "message of more than %d bytes", jsonrpc.MaxMessage))
			return
		case err != nil: // or the client left
			writeError(w, http.StatusRequestTimeout, fault(jsonrpc.CodeInvalid, "request", "the message has not come whole within %v", bodyWait))
			return
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // its end is still looked for
		r.Body = io.NopCloser(bytes.NewReader(raw))
		serve(w, r, who)
	})
}

func (s *Server) serveRPC(w http.ResponseWriter, r *http.Request, who Principal) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // it is in memory
	}
	handle := func(ctx context.Context, c jsonrpc.Call, notify func(string, any)) (any, error) {
		return s.answer(ctx, who, c, notify)
	}
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		serveEvents(w, r, raw, handle)
		return
	}
	reply := jsonrpc.Handle(r.Context(), raw, handle, nil)
	if len(reply.Text) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	writeJSON(w, statusOf(reply.Error), reply.Text)
}

func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request, who Principal) {
	if !who.Has(ScopeMetrics) {
		writeError(w, http.StatusForbidden, fault(CodeForbidden, "forbidden", "needs scope %q", ScopeMetrics))
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	s.metrics.write(w, s.blobBytes(r.Context()))
}
