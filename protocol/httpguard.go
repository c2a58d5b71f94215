package protocol

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
)

// handlers are the functions for one path, by HTTP method.
type handlers map[string]func(http.ResponseWriter, *http.Request, Principal, *admission)

// guard returns a handler that checks origin, method and token before it reads the body. It also
// limits how many requests of a tenant, and in all, are answered at once.
func (s *Server) guard(byMethod handlers) http.Handler { return s.guardFor(s.principal, byMethod) }

// guardFor is guard for requests whose caller principal returns.
func (s *Server) guardFor(principal func(*http.Request) (Principal, error), byMethod handlers) http.Handler {
	methods := strings.Join(slices.Sorted(maps.Keys(byMethod)), ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w = timedWriter{w}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if fault := s.checkSite(w, r); fault != nil {
			writeError(w, http.StatusForbidden, fault)
			return
		}
		if r.Method == http.MethodOptions && r.Header.Get("Origin") != "" {
			w.Header().Set("Access-Control-Allow-Methods", methods)
			w.Header().Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
			w.WriteHeader(http.StatusNoContent)
			return
		}
		serve := byMethod[r.Method]
		if r.Method == http.MethodHead {
			serve = byMethod[http.MethodGet]
		}
		if serve == nil {
			w.Header().Set("Allow", methods)
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		who, err := principal(r)
		if err != nil {
			refuseToken(w, err)
			return
		}
		admitted := s.admit(who)
		if admitted == nil {
			writeBusy(w)
			return
		}
		defer admitted.end()
		ctx := r.Context()
		if trace := r.Header.Get("Traceparent"); len(trace) <= maxTraceParent {
			ctx = context.WithValue(ctx, traceKey{}, trace)
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		serve(w, r.WithContext(ctx), who, admitted)
	})
}

// refuseToken answers a request without a valid token.
func refuseToken(w http.ResponseWriter, err error) {
	status := http.StatusUnauthorized
	if errors.Is(err, errTooManyFailures) {
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", strconv.Itoa(int(failureWindow/time.Second)))
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	writeError(w, status, fault(codeUnauthenticated, "unauthenticated", "%v", err))
}

// timedWriter fails a write if the client reads nothing for writeWait.
type timedWriter struct{ http.ResponseWriter }

// Write implements http.ResponseWriter.
func (t timedWriter) Write(p []byte) (int, error) {
	_ = http.NewResponseController(t.ResponseWriter).SetWriteDeadline(time.Now().Add(writeWait))
	return t.ResponseWriter.Write(p)
}

// Unwrap returns the writer inside, which http.ResponseController needs.
func (t timedWriter) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// principal returns the caller that a request authenticates as.
func (s *Server) principal(r *http.Request) (Principal, error) {
	if s.auth == nil {
		return LocalPrincipal(), nil
	}
	return s.auth(r)
}

// checkSite refuses requests from pages of other origins. On loopback it also refuses unknown Host
// headers, so that a page cannot reach the server under a domain of its own (DNS rebinding).
func (s *Server) checkSite(w http.ResponseWriter, r *http.Request) *jsonrpc.Error {
	loopback := onLoopback(r)
	if loopback && !s.isHost(r.Host) {
		return fault(codeForbidden, "forbidden", "host %.100q is not this server", r.Host)
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	own := loopback && (origin == "http://"+r.Host || origin == "https://"+r.Host) // elsewhere Host is not checked
	if !own && !slices.Contains(s.origins, origin) {
		return fault(codeForbidden, "forbidden", "origin %.100q is not allowed", origin)
	}
	w.Header().Set("Access-Control-Allow-Origin", origin)
	w.Header().Add("Vary", "Origin")
	return nil
}

// onLoopback reports whether a request has come by the loopback interface.
func onLoopback(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return false
	}
	at, err := netip.ParseAddrPort(local.String())
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// isHost reports whether a Host header names this server.
func (s *Server) isHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	return host == "localhost" || host == "127.0.0.1" || host == "::1" || slices.Contains(s.hosts, host)
}

// writeError answers with an error. It does not wait long for the rest of the request, which
// net/http reads before it sends the answer.
func writeError(w http.ResponseWriter, status int, fault *jsonrpc.Error) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(refusedWait))
	text, _ := jsonrpc.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": fault})
	writeJSON(w, status, text)
}

func writeJSON(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) //nolint:gosec // the Content-Type is JSON, so no browser runs it
}

// statusOf returns the HTTP status of an answer. Errors of JSON-RPC itself have 200.
func statusOf(fault *jsonrpc.Error) int {
	if fault != nil {
		switch fault.Code {
		case codeUnauthenticated:
			return http.StatusUnauthorized
		case codeForbidden:
			return http.StatusForbidden
		}
	}
	return http.StatusOK
}
