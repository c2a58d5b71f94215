package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
)

var (
	errAbsolute = errors.New("this is a proxy: ask for http://host/path")
	errMethod   = errors.New("upgrades and TRACE do not go through this proxy")
	errEncoded  = errors.New("the answer is encoded although the request forbids it, so that secrets could not be found in it")
)

// forward makes a request for the program. If only an https rule allows the host, it uses TLS.
func (e *exchange) forward(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Scheme != "http" || r.URL.Host == "":
		e.answer(w, http.StatusBadRequest, verdictRefused, errAbsolute)
		return
	case r.URL.User != nil:
		e.refuse(w, errUser)
		return
	case r.Method == http.MethodTrace || r.Header.Get("Upgrade") != "":
		e.answer(w, http.StatusMethodNotAllowed, verdictRefused, errMethod)
		return
	}
	at, err := parsePlace(r.URL.Host, 80)
	if err != nil {
		e.refuse(w, fmt.Errorf("%q: %w", excerpt(r.URL.Host), err))
		return
	}
	e.setTarget(at)
	scheme := "http"
	if !e.policy.fits("http", at) {
		secure := at
		if secure.port == 80 {
			secure.port = 443
		}
		if !e.policy.fits("https", secure) {
			e.refuse(w, e.notAllowed(at))
			return
		}
		scheme, at = "https", secure
		e.setTarget(at)
	}
	getsSecrets, err := e.fill(r, scheme, at.host)
	if err != nil {
		e.refuse(w, err)
		return
	}
	e.send(w, r, scheme, at, getsSecrets)
}

// send sends a request to the host and its answer to the program. If the host may get secrets, send
// removes them from the answer.
func (e *exchange) send(w http.ResponseWriter, r *http.Request, scheme string, at place, getsSecrets bool) {
	limits := e.policy.Limits
	transport := &http.Transport{
		DialContext:            func(ctx context.Context, _, _ string) (net.Conn, error) { return e.dial(ctx, at) },
		TLSClientConfig:        &tls.Config{ServerName: strings.Trim(at.host.String(), "[]"), RootCAs: e.policy.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    limits.Dial,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: int64(limits.Header),
	}
	defer transport.CloseIdleConnections()
	proxy := httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = scheme, at.host.String()
			if at.port != ports[scheme] {
				r.Out.URL.Host = at.String()
			}
			r.Out.Host = r.Out.URL.Host
			r.Out.Header.Del("Proxy-Authorization")
			if getsSecrets {
				r.Out.Header.Set("Accept-Encoding", "identity")
				r.Out.Header.Del("Range") // the answer could hold a part of a secret
				r.Out.Header.Del("If-Range")
			}
		},
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			switch {
			case errors.Is(err, errNotPublic):
				e.answerUnreached(w, err)
			case errors.Is(err, errOverLimit):
				e.refuse(w, fmt.Errorf("over the limit of %s", size(limits.Bytes)))
			default:
				e.fail(w, withPlace(err, at))
			}
		},
		ModifyResponse: func(answer *http.Response) error {
			if answer.StatusCode == http.StatusSwitchingProtocols {
				return errMethod
			}
			answer.Header.Set("Connection", "close")
			if getsSecrets {
				return e.clean(answer)
			}
			return nil
		},
	}
	defer func() { // the reverse proxy panics with ErrAbortHandler if the answer breaks off
		if thrown := recover(); thrown != nil {
			if thrown == http.ErrAbortHandler { //nolint:errorlint,err113 // net/http compares it so too
				e.entry.Reason = "the answer broke off"
			}
			panic(thrown)
		}
	}()
	proxy.ServeHTTP(finalWriter{w}, r)
}

// finalWriter drops informational answers (1xx), because their headers are not checked.
type finalWriter struct{ http.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (f finalWriter) WriteHeader(code int) {
	if code >= http.StatusOK {
		f.ResponseWriter.WriteHeader(code)
	}
}

// Unwrap returns the writer inside, which http.ResponseController needs to flush.
func (f finalWriter) Unwrap() http.ResponseWriter { return f.ResponseWriter }

// withPlace adds the place to an error that does not begin with it.
func withPlace(err error, at place) error {
	if text := fmt.Sprintf("%q", at); strings.HasPrefix(err.Error(), text) {
		return err
	}
	return fmt.Errorf("%q: %w", at, err)
}
