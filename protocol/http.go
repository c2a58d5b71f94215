package protocol

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/satchel-go/satchel/protocol/blobs"
	"github.com/satchel-go/satchel/protocol/jsonrpc"
)

// The bounds of HTTP.
const (
	maxHeaders  = 32 << 10
	headerWait  = 10 * time.Second
	bodyWait    = time.Minute
	blobWait    = 10 * time.Minute
	maxRequests = 256
	pingEvery   = 15 * time.Second
)

// Handler answers HTTP: POST /rpc, POST /blobs, GET /blobs/<id>, GET /healthz and
// GET /metrics. It checks Origin, Host and the token of each request. The end of a
// request ends its call.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/rpc", s.guarded(http.MethodPost, s.serveRPC))
	mux.HandleFunc("/blobs", s.guarded(http.MethodPost, s.serveUpload))
	mux.HandleFunc("/blobs/{id}", s.guarded(http.MethodGet, s.serveBlob))
	mux.HandleFunc("/metrics", s.guarded(http.MethodGet, s.serveMetrics))
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	slots := make(chan struct{}, maxRequests)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			mux.ServeHTTP(w, r)
		default:
			w.Header().Set("Retry-After", "1")
			writeError(w, http.StatusServiceUnavailable, fault(CodeBusy, "busy", "%d requests at once", maxRequests))
		}
	})
}

// guarded checks what comes before a request is read.
func (s *Server) guarded(method string, serve func(http.ResponseWriter, *http.Request, Principal)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if fault := s.checkSite(w, r); fault != nil {
			writeError(w, http.StatusForbidden, fault)
			return
		}
		if r.Method == http.MethodOptions && r.Header.Get("Origin") != "" {
			w.Header().Set("Access-Control-Allow-Methods", method)
			w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if r.Method != method && (method != http.MethodGet || r.Method != http.MethodHead) {
			w.Header().Set("Allow", method)
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		who, err := s.principal(r)
		if err != nil {
			status := http.StatusUnauthorized
			if errors.Is(err, errTooManyFailures) {
				status = http.StatusTooManyRequests
				w.Header().Set("Retry-After", strconv.Itoa(int(failureWindow/time.Second)))
			}
			w.Header().Set("WWW-Authenticate", "Bearer")
			writeError(w, status, fault(CodeUnauthenticated, "unauthenticated", "%v", err))
			return
		}
		ctx := r.Context()
		if trace := r.Header.Get("Traceparent"); len(trace) <= 128 {
			ctx = context.WithValue(ctx, traceKey{}, trace)
		}
		serve(w, r.WithContext(ctx), who)
	}
}

func (s *Server) principal(r *http.Request) (Principal, error) {
	if s.auth == nil {
		return LocalPrincipal(), nil
	}
	return s.auth.Authenticate(r)
}

// checkSite refuses pages of other sites, and names that lead here by a foreign
// server of names.
func (s *Server) checkSite(w http.ResponseWriter, r *http.Request) *jsonrpc.Error {
	if origin := r.Header.Get("Origin"); origin != "" {
		if !slices.Contains(s.origins, origin) {
			return fault(CodeForbidden, "forbidden", "origin %.100q is not allowed", origin)
		}
		w.Header().Set("Access-Control-Allow-Origin", origin)
		w.Header().Add("Vary", "Origin")
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return nil
	}
	if at, err := netip.ParseAddrPort(local.String()); err != nil || !at.Addr().Unmap().IsLoopback() {
		return nil
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if host != "localhost" && host != "127.0.0.1" && host != "::1" && !slices.Contains(s.hosts, host) {
		return fault(CodeForbidden, "forbidden", "host %.100q is not this server", r.Host)
	}
	return nil
}

func writeError(w http.ResponseWriter, status int, fault *jsonrpc.Error) {
	text, _ := jsonrpc.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": fault})
	writeJSON(w, status, text)
}

func writeJSON(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// statusOf is the status of an answer: JSON-RPC's own errors have 200.
func statusOf(fault *jsonrpc.Error) int {
	if fault != nil {
		switch fault.Code {
		case CodeUnauthenticated:
			return http.StatusUnauthorized
		case CodeForbidden:
			return http.StatusForbidden
		}
	}
	return http.StatusOK
}

func (s *Server) serveRPC(w http.ResponseWriter, r *http.Request, who Principal) {
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
	case err != nil:
		return // the client left
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // its end is still looked for
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
	control := http.NewResponseController(e.w)
	_ = control.SetWriteDeadline(time.Now().Add(30 * time.Second))
	_, _ = e.w.Write(text)
	_ = control.Flush()
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

// serveUpload answers POST /blobs: the body is the content.
func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request, who Principal) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(blobWait))
	result, err := s.direct(r, who, "POST /blobs", ScopeWrite, func(c *call) (any, error) {
		kind := r.Header.Get("Content-Type")
		if kind == "" {
			kind = "application/octet-stream"
		}
		return c.keepBlob(r.Context(), kind, http.MaxBytesReader(w, r.Body, blobs.MaxBlob+1), blobs.MaxBlob, blobs.DefaultExpiry)
	})
	if err != nil {
		writeError(w, blobStatus(err), err)
		return
	}
	text, _ := json.Marshal(result)
	writeJSON(w, http.StatusOK, text)
}

func blobStatus(fault *jsonrpc.Error) int {
	switch fault.Code {
	case CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case CodeNotFound:
		return http.StatusNotFound
	case jsonrpc.CodeParams:
		return http.StatusBadRequest
	case jsonrpc.CodeInternal:
		return http.StatusInternalServerError
	}
	return statusOf(fault)
}

// direct answers what is no JSON-RPC by the same rules.
func (s *Server) direct(r *http.Request, who Principal, name string, scope Scope, answer func(*call) (any, error)) (any, *jsonrpc.Error) {
	began := time.Now()
	record := Record{Method: name, Tenant: who.Tenant, Name: who.Name}
	var result any
	err := error(fault(CodeForbidden, "forbidden", "needs scope %q", scope))
	if who.Has(scope) {
		result, err = answer(&call{Server: s, Principal: who, record: &record})
	}
	var told *jsonrpc.Error
	if err != nil {
		if told = errorOf(r.Context(), err); told == nil {
			told = s.internal(err, name)
		}
		record.Code = told.Code
	}
	record.Duration = time.Since(began)
	s.observed(r.Context(), record)
	return result, told
}

// serveBlob answers GET /blobs/<id>, with Range. A browser shows nothing of it.
func (s *Server) serveBlob(w http.ResponseWriter, r *http.Request, who Principal) {
	result, err := s.direct(r, who, "GET /blobs", ScopeRead, func(c *call) (any, error) {
		return c.store.Stat(r.Context(), c.Tenant, r.PathValue("id"))
	})
	if err != nil {
		writeError(w, blobStatus(err), err)
		return
	}
	info, _ := result.(blobs.Info)
	w.Header().Set("Content-Type", info.Kind)
	w.Header().Set("Content-Disposition", "attachment")
	w.Header().Set("Content-Security-Policy", "sandbox; default-src 'none'")
	w.Header().Set("ETag", `"`+info.SHA256+`"`)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(blobWait))
	content := &blobReader{ctx: r.Context(), store: s.store, tenant: who.Tenant, info: info}
	defer content.close()
	http.ServeContent(w, r, "", time.Time{}, content)
}

// blobReader reads a blob from where it was told to.
type blobReader struct {
	ctx    context.Context //nolint:containedctx // of the one request that it serves
	store  blobs.Store
	tenant string
	info   blobs.Info
	at     int64
	open   io.ReadCloser
}

func (b *blobReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += b.at
	case io.SeekEnd:
		offset += b.info.Size
	}
	if offset < 0 {
		return b.at, errors.New("seek before the beginning")
	}
	b.close()
	b.at = offset
	return offset, nil
}

func (b *blobReader) Read(p []byte) (n int, err error) {
	if b.open == nil {
		if b.open, _, err = b.store.Open(b.ctx, b.tenant, b.info.ID, b.at, -1); err != nil {
			return 0, err
		}
	}
	n, err = b.open.Read(p)
	b.at += int64(n)
	return n, err
}

func (b *blobReader) close() {
	if b.open != nil {
		_ = b.open.Close()
		b.open = nil
	}
}

func (s *Server) serveMetrics(w http.ResponseWriter, _ *http.Request, who Principal) {
	if !who.Has(ScopeMetrics) {
		writeError(w, http.StatusForbidden, fault(CodeForbidden, "forbidden", "needs scope %q", ScopeMetrics))
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	s.metrics.write(w)
}

// Listening is how ListenAndServe is reached.
type Listening struct {
	Address string // "host:port"; port 0 takes a free one
	// CertFile and KeyFile are for TLS; both or none.
	CertFile, KeyFile string
	// Insecure allows addresses beyond the loopback interface without token or TLS.
	Insecure bool
	// Ready, if not nil, is called with the address when requests are taken.
	Ready func(net.Addr)
}

// ListenAndServe answers HTTP until ctx ends. The error says what is missing for an
// address that others can reach.
func (s *Server) ListenAndServe(ctx context.Context, at Listening) error {
	secured := s.auth != nil && at.CertFile != ""
	if host, _, err := net.SplitHostPort(at.Address); err != nil {
		return fmt.Errorf("listen %s: want host:port", at.Address)
	} else if ip, err := netip.ParseAddr(host); !secured && !at.Insecure && host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return fmt.Errorf("listen %s: not loopback: give tokens and a certificate, or say insecure", at.Address)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at.Address)
	if err != nil {
		return fmt.Errorf("listen %s: %w", at.Address, err)
	}
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: headerWait, MaxHeaderBytes: maxHeaders - 4096, IdleTimeout: 2 * time.Minute,
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	}
	stop := context.AfterFunc(ctx, func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWait)
		defer cancel()
		if server.Shutdown(limited) != nil {
			_ = server.Close()
		}
	})
	defer stop()
	if at.Ready != nil {
		at.Ready(l.Addr())
	}
	if at.CertFile != "" {
		err = server.ServeTLS(l, at.CertFile, at.KeyFile)
	} else {
		err = server.Serve(l)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
