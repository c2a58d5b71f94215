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

// guard checks a request before its body is read, and bounds the requests of a tenant and of
// all.
func (s *Server) guard(at handlers) http.Handler {
	methods := strings.Join(slices.Sorted(maps.Keys(at)), ", ")
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
		serve := at[r.Method]
		if r.Method == http.MethodHead {
			serve = at[http.MethodGet]
		}
		if serve == nil {
			w.Header().Set("Allow", methods)
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		who, err := s.principal(r)
		if err != nil {
			refuseToken(w, err)
			return
		}
		place := s.admit(who)
		if place == nil {
			busy(w)
			return
		}
		defer place.end()
		ctx := r.Context()
		if trace := r.Header.Get("Traceparent"); len(trace) <= maxTraceParent {
			ctx = context.WithValue(ctx, traceKey{}, trace)
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		serve(w, r.WithContext(ctx), who, place)
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

// timedWriter gives a response up if the client reads nothing of it for writeWait.
type timedWriter struct{ http.ResponseWriter }

// Write implements http.ResponseWriter.
func (u timedWriter) Write(p []byte) (int, error) {
	_ = http.NewResponseController(u.ResponseWriter).SetWriteDeadline(time.Now().Add(writeWait))
	return u.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (u timedWriter) Unwrap() http.ResponseWriter { return u.ResponseWriter }

func (s *Server) principal(r *http.Request) (Principal, error) {
	if s.auth == nil {
		return LocalPrincipal(), nil
	}
	return s.auth(r)
}

// checkSite refuses pages of other sites, and names that lead here by a foreign
// server of names.
func (s *Server) checkSite(w http.ResponseWriter, r *http.Request) *jsonrpc.Error {
	loopback := onLoopback(r)
	if loopback && !s.isHost(r.Host) {
		return fault(codeForbidden, "forbidden", "host %.100q is not this server", r.Host)
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	own := loopback && (origin == "http://"+r.Host || origin == "https://"+r.Host) // only on loopback was Host checked
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

// isHost reports whether a Host is a name of this server.
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
	_, _ = w.Write(text) //nolint:gosec // it is JSON, and says so
}

// statusOf is the status of an answer: JSON-RPC's own errors have 200.
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
