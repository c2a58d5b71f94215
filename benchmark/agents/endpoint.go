package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// record is a request as the endpoint keeps it.
type record struct {
	Wire    string          `json:"wire"`
	Turn    int             `json:"turn"`
	Runs    int             `json:"runs"`
	IsAside bool            `json:"aside,omitempty"`
	Body    json.RawMessage `json:"body"`
}

// endpoint serves a model for OpenAI's Responses and Chat Completions and for Anthropic's
// Messages, and keeps each request as a file.
type endpoint struct {
	model *model
	dir   string

	mu    sync.Mutex
	count int
	err   error // the first
}

// ServeHTTP answers one request of an agent.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	wire := map[string]string{"responses": "responses", "messages": "messages", "completions": "chat"}[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]]
	switch {
	case r.Method != http.MethodPost:
		send(w, `{"object":"list","data":[{"id":"scripted","object":"model"}],"models":[]}`)
		return
	case strings.HasSuffix(r.URL.Path, "/count_tokens"):
		send(w, `{"input_tokens":1}`)
		return
	case wire == "":
		send(w, `{}`)
		return
	}
	if err := e.answer(w, r, wire); err != nil {
		e.mu.Lock()
		if e.err == nil {
			e.err = err
		}
		e.mu.Unlock()
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (e *endpoint) answer(w http.ResponseWriter, r *http.Request, wire string) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if r.Header.Get("Content-Encoding") == "zstd" {
		unpack := exec.CommandContext(r.Context(), "zstd", "-dc")
		unpack.Stdin = strings.NewReader(string(body))
		if body, err = unpack.Output(); err != nil {
			return fmt.Errorf("unpack a request: %w: install the program zstd", err)
		}
	}
	var request map[string]any
	if err := json.Unmarshal(body, &request); err != nil {
		return fmt.Errorf("read a request: %w", err)
	}
	next, err := e.model.next(request)
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.count++
	number := e.count
	e.mu.Unlock()
	kept, err := json.Marshal(record{wire, next.turn, next.runs, next.isAside, body})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(e.dir, fmt.Sprintf("%03d.json", number)), kept, 0o600); err != nil {
		return err
	}
	isStream, _ := request["stream"].(bool)
	writers[wire](w, reply{move: next, number: number, model: request["model"], isStream: isStream})
	return nil
}

func send(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, text)
}
