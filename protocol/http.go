package protocol

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
)

// Handler returns the HTTP handler of the server: POST /rpc, POST and GET /blobs, GET and DELETE
// /blobs/<id>, GET /healthz and GET /metrics, with WithWellKnown also those below
// /.well-known/agent-skills/. GET / lists them. The handler checks Origin, Host
// and the token of each request. When a request ends, its call is cancelled.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/rpc", s.messages(s.serveRPC))
	mux.Handle("/blobs", s.guard(handlers{http.MethodPost: s.serveUpload, http.MethodGet: s.serveBlobs}))
	mux.Handle("/blobs/{id}", s.guard(handlers{http.MethodGet: s.serveBlob, http.MethodDelete: s.serveDelete}))
	mux.Handle("/metrics", s.guard(handlers{http.MethodGet: s.serveMetrics}))
	mux.HandleFunc("GET /{$}", s.serveIndex)
	if s.published != nil {
		s.published.handle(mux)
	}
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	return mux
}

// Messages returns a handler for another protocol on this server. It passes POST requests of
// application/json to serve after the checks of Handler. Before, it reads the whole body: at most
// 16 MiB, or 1 MiB if the caller may only read.
//
// At most 256 requests with 512 MiB of bodies are answered at once, counted over this handler and
// Handler. With WithAuth each tenant gets at most an eighth of both.
func (s *Server) Messages(serve func(http.ResponseWriter, *http.Request, Principal)) http.Handler {
	return s.messages(func(w http.ResponseWriter, r *http.Request, who Principal, raw []byte) {
		r.Body = io.NopCloser(bytes.NewReader(raw))
		serve(w, r, who)
	})
}

// messages is Messages for a serve that gets the body as bytes.
func (s *Server) messages(serve func(http.ResponseWriter, *http.Request, Principal, []byte)) http.Handler {
	return s.guard(handlers{http.MethodPost: func(w http.ResponseWriter, r *http.Request, who Principal, admitted *admission) {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			http.Error(w, "want Content-Type: application/json", http.StatusUnsupportedMediaType)
			return
		}
		most := maxMessage(who)
		if !who.Has(ScopeRead) && !who.Has(ScopeRun) && !who.Has(ScopeWrite) {
			writeError(w, http.StatusForbidden, fault(codeForbidden, "forbidden", "needs scope %q, %q or %q", ScopeRead, ScopeRun, ScopeWrite))
			return
		}
		raw, err := admitted.read(newPacedBody(w, r.Body, 0), most)
		switch {
		case errors.Is(err, errLong):
			w.Header().Set("Connection", "close")
			writeError(w, http.StatusRequestEntityTooLarge, fault(jsonrpc.CodeInvalid, "request", "message of more than %d bytes", most))
			return
		case errors.Is(err, errBusy):
			w.Header().Set("Connection", "close")
			writeBusy(w)
			return
		case err != nil: // too slow, or the client has closed the connection
			writeError(w, http.StatusRequestTimeout, fault(jsonrpc.CodeInvalid, "request", "the message comes too slowly: want %d bytes a second after the first %v", bodyRate, bodyGrace))
			return
		}
		// Without a deadline net/http still cancels the request when the client closes.
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		serve(w, r, who, raw)
	}})
}

func (s *Server) serveRPC(w http.ResponseWriter, r *http.Request, who Principal, raw []byte) {
	handle := s.handler(who)
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

func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request, who Principal, _ *admission) {
	if !who.Has(ScopeMetrics) {
		writeError(w, http.StatusForbidden, fault(codeForbidden, "forbidden", "needs scope %q", ScopeMetrics))
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	s.metrics.write(w, s.blobBytes(r.Context()))
}
