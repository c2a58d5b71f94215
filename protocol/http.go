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

// Handler answers HTTP: POST /rpc, POST and GET /blobs, GET and DELETE /blobs/<id>,
// GET /healthz, GET /metrics and, with all of these, GET /. It checks Origin, Host and the token of each request. The end of a
// request ends its call.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/rpc", s.messages(s.serveRPC))
	mux.Handle("/blobs", s.guarded(doors{http.MethodPost: s.serveUpload, http.MethodGet: s.serveBlobs}))
	mux.Handle("/blobs/{id}", s.guarded(doors{http.MethodGet: s.serveBlob, http.MethodDelete: s.serveDelete}))
	mux.Handle("/metrics", s.guarded(doors{http.MethodGet: s.serveMetrics}))
	mux.HandleFunc("GET /{$}", s.serveIndex)
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	return mux
}

// Messages is the door of another protocol on this server, with what holds at the
// door of Handler: it lets POST requests of application/json through whose Origin,
// Host and token are right. With those of Handler, 256 are answered at once and their
// bodies have 512 MiB; where callers have tokens, a tenant gets an eighth of both. The
// bodies have been read: they have at most 16 MiB, 1 MiB of a caller that may only read.
func (s *Server) Messages(serve func(http.ResponseWriter, *http.Request, Principal)) http.Handler {
	return s.messages(func(w http.ResponseWriter, r *http.Request, who Principal, raw []byte) {
		r.Body = io.NopCloser(bytes.NewReader(raw))
		serve(w, r, who)
	})
}

func (s *Server) messages(serve func(http.ResponseWriter, *http.Request, Principal, []byte)) http.Handler {
	return s.guarded(doors{http.MethodPost: func(w http.ResponseWriter, r *http.Request, who Principal, place *admitted) {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			http.Error(w, "want Content-Type: application/json", http.StatusUnsupportedMediaType)
			return
		}
		most := mostOf(who)
		if !who.Has(ScopeRead) && !who.Has(ScopeRun) && !who.Has(ScopeWrite) {
			writeError(w, http.StatusForbidden, fault(codeForbidden, "forbidden", "needs scope %q, %q or %q", ScopeRead, ScopeRun, ScopeWrite))
			return
		}
		raw, err := place.read(newPaced(w, r.Body, 0), most)
		switch {
		case errors.Is(err, errLong):
			w.Header().Set("Connection", "close")
			writeError(w, http.StatusRequestEntityTooLarge, fault(jsonrpc.CodeInvalid, "request", "message of more than %d bytes", most))
			return
		case errors.Is(err, errBusy):
			w.Header().Set("Connection", "close")
			busy(w)
			return
		case err != nil: // or the client left
			writeError(w, http.StatusRequestTimeout, fault(jsonrpc.CodeInvalid, "request", "the message comes too slowly: want %d bytes a second after the first %v", bodyRate, bodyGrace))
			return
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // its end is still looked for
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

func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request, who Principal, _ *admitted) {
	if !who.Has(ScopeMetrics) {
		writeError(w, http.StatusForbidden, fault(codeForbidden, "forbidden", "needs scope %q", ScopeMetrics))
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	s.metrics.write(w, s.blobBytes(r.Context()))
}
