// Package satcheltest helps to test agents without an API key and without a network. Its
// [Server] is an endpoint with a script in place of a model. It speaks the OpenAI chat completion
// format over HTTP on loopback, streamed and not. It answers as a [Script] decides, and records
// every request byte for byte. A test sets the agent's client to [Server.URL], runs the agent,
// and checks [Server.Requests]: a model would have got the same requests.
package satcheltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/core"
)

// Script returns the answer to a request. The server calls it for one request at a time, in the
// order of arrival.
type Script func(Request) Response

// Server is the endpoint. If a script sets no usage, the server reports an estimate: four bytes
// of [Request.Prompt] are one token. The longest prefix that the prompt shares with an earlier
// one counts as cached.
type Server struct {
	script Script
	http   *http.Server
	url    string
	done   chan struct{}

	// scriptMu is held while the script runs, so that scripts need no lock.
	scriptMu sync.Mutex

	mu       sync.Mutex
	requests []Request
	prompts  [][]byte
}

// Open starts a server on a free port of 127.0.0.1. The caller closes it.
func Open(script Script) (*Server, error) {
	if script == nil {
		return nil, errors.New("start endpoint: no script")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start endpoint: %w", err)
	}
	s := &Server{
		script: script,
		url:    "http://" + listener.Addr().String() + "/v1",
		done:   make(chan struct{}),
	}
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: headerTimeout,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(listener) // always ends with ErrServerClosed
	}()
	return s, nil
}

// URL returns the base URL for a client, without a trailing slash.
func (s *Server) URL() string { return s.url }

// Close stops the server and closes its connections.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.done
	return err
}

// Requests returns the requests so far, in the order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		writeError(w, http.StatusNotFound, "this endpoint answers POST /v1/chat/completions only")
		return
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	req, err := decode(raw)
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	req, resp := s.answer(r.Context(), req)
	switch {
	case resp.Status != 0 && resp.Status != http.StatusOK:
		writeError(w, resp.Status, resp.Err)
	case req.Stream:
		writeStream(w, req, resp)
	default:
		writeJSON(w, req, resp)
	}
}

// answer records a request, calls the script, and completes the response.
func (s *Server) answer(ctx context.Context, req Request) (Request, Response) {
	s.scriptMu.Lock()
	defer s.scriptMu.Unlock()
	prompt := req.Prompt()
	cached := s.record(&req, prompt)
	req.ctx = ctx
	resp := s.script(req).withIDs(req.Number)
	if resp.Usage == nil {
		resp.Usage = &core.Usage{
			Prompt:     tokens(len(prompt)),
			Cached:     cached / bytesPerToken,
			Completion: tokens(len(resp.Text) + callBytes(resp.Calls)),
		}
	}
	return req, resp
}

// record numbers and stores a request. It returns how many bytes of the prompt an earlier
// request begins with too.
func (s *Server) record(req *Request, prompt []byte) (cached int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	req.Number = len(s.requests) + 1
	s.requests = append(s.requests, *req)
	for _, earlier := range s.prompts {
		cached = max(cached, sharedPrefix(earlier, prompt))
	}
	s.prompts = append(s.prompts, prompt)
	return cached
}

// sharedPrefix returns the length of the longest common prefix of a and b in bytes.
func sharedPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	if bytes.Equal(a[:n], b[:n]) {
		return n
	}
	i := 0
	for a[i] == b[i] {
		i++
	}
	return i
}

func tokens(n int) int { return (n + bytesPerToken - 1) / bytesPerToken }

func callBytes(calls []core.ToolCall) (n int) {
	for _, c := range calls {
		n += len(c.Name) + len(c.Arguments)
	}
	return n
}
