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

// forward makes a request for the program: over TLS where only an https rule
// allows its host.
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
	e.toward(at)
	scheme := "http"
	if !e.policy.fits("http", at) {
		over := at
		if over.port == 80 {
			over.port = 443
		}
		if !e.policy.fits("https", over) {
			e.refuse(w, e.notAllowed(at))
			return
		}
		scheme, at = "https", over
		e.toward(at)
	}
	told, err := e.fill(r, scheme, at.host)
	if err != nil {
		e.refuse(w, err)
		return
	}
	e.send(w, r, scheme, at, told)
}

// send passes a request on, and its answer back. What the answer tells of
// secrets is taken out where the request told some.
func (e *exchange) send(w http.ResponseWriter, r *http.Request, scheme string, at place, told bool) {
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
			if told {
				r.Out.Header.Set("Accept-Encoding", "identity")
				r.Out.Header.Del("Range") // a part could be the part of a secret
				r.Out.Header.Del("If-Range")
			}
		},
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			switch {
			case errors.Is(err, errNotPublic):
				e.answerUnreached(w, err)
			case errors.Is(err, errOver):
				e.refuse(w, fmt.Errorf("over the limit of %s", size(limits.Bytes)))
			default:
				e.fail(w, reasonOf(err, at))
			}
		},
		ModifyResponse: func(answer *http.Response) error {
			if answer.StatusCode == http.StatusSwitchingProtocols {
				return errMethod
			}
			answer.Header.Set("Connection", "close")
			if told {
				return e.clean(answer)
			}
			return nil
		},
	}
	defer func() { // how the reverse proxy says that the answer broke off
		if broken := recover(); broken != nil {
			if broken != http.ErrAbortHandler { //nolint:errorlint,err113 // it is this very value
				panic(broken)
			}
			e.entry.Reason = "the answer broke off"
			panic(broken)
		}
	}()
	proxy.ServeHTTP(final{w}, r)
}

// final drops informational answers, because their headers are not checked.
type final struct{ http.ResponseWriter }

func (f final) WriteHeader(code int) {
	if code >= http.StatusOK {
		f.ResponseWriter.WriteHeader(code)
	}
}

// Unwrap lets the answer be flushed.
func (f final) Unwrap() http.ResponseWriter { return f.ResponseWriter }

func reasonOf(err error, at place) error {
	if text := fmt.Sprintf("%q", at); strings.HasPrefix(err.Error(), text) {
		return err
	}
	return fmt.Errorf("%q: %w", at, err)
}
