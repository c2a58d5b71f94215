package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

// vectorsOf serves an OpenAI-compatible endpoint. A text is about cars, money or neither.
func vectorsOf(t *testing.T, keys *[]string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/v1/embeddings" || asked.Model == "broken" {
			http.Error(w, `{"error":"no such model"}`, http.StatusNotFound)
			return
		}
		*keys = append(*keys, r.Header.Get("Authorization"))
		type vector struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		answer := struct {
			Data []vector `json:"data"`
		}{}
		for i, text := range asked.Input {
			v := vector{i, []float32{0.1, 0.1, 0.1, 0.3}}
			for n, words := range [][]string{{"car", "vehicle", "limousine"}, {"invoice", "owes"}, {"speech"}} {
				for _, word := range words {
					if strings.Contains(text, word) {
						v.Embedding[n] = 1
					}
				}
			}
			answer.Data = append([]vector{v}, answer.Data...) // in another order
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// Requests that share no word with their skill are found by vectors, in searches and in chats, and
// --calibrate finds the cosine for that.
func TestEmbedURL(t *testing.T) {
	var keys []string
	at, dir := vectorsOf(t, &keys), t.TempDir()
	for name, about := range map[string]string{"mend": "Repairs a car.", "charge": "Writes an invoice.", "talk": "Prepares a speech."} {
		file := filepath.Join(dir, name, "SKILL.md")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("---\nname: "+name+"\ndescription: "+about+"\n---\nBody of "+name+".\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	requests := filepath.Join(dir, "requests.jsonl")
	lines := `{"query":"my limousine makes a noise","skill":"mend"}
{"query":"somebody owes us money","skill":"charge"}

{"query":"good morning","skill":null}
`
	if err := os.WriteFile(requests, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"EMBED_API_KEY": "secret-key"}
	got := program(t, env, "", "search", "--skills", dir, "--embed-url", at, "--json", "the limousine makes a noise")
	if !strings.Contains(got.out, `"name":"mend"`) || got.code != cli.ExitDone {
		t.Errorf("search: %+v", got)
	}
	if len(keys) == 0 || keys[0] != "Bearer secret-key" {
		t.Errorf("keys %q", keys)
	}
	got = program(t, env, "", "search", "--skills", dir, "--embed-url", at, "--calibrate", requests)
	if !strings.HasPrefix(got.out, "best threshold: 0.") || !strings.Contains(got.out, "(F1 1.00 over 3 requests)") || !strings.Contains(got.out, "  best\n") {
		t.Errorf("calibrate: %+v", got)
	}
	got = program(t, env, lines, "search", "--skills", dir, "--embed-url", at, "--calibrate", "-", "--json")
	var best struct {
		Threshold, F1 float64
		Found, Wrong  int
		Table         []map[string]any
	}
	if err := json.Unmarshal([]byte(got.out), &best); err != nil || best.F1 != 1 || best.Found != 2 || best.Wrong != 0 || len(best.Table) < 20 {
		t.Errorf("calibrate --json: %v, %+v of %+v", err, best, got)
	}
	got = program(t, env, "", "tool", "--profile", "knowledge_only", "--skills", dir, "--activation", "load", "--embed-url", at, "--prompt", "the limousine makes a noise", "skill_list_docs", "mend")
	if got.code != cli.ExitDone || strings.Contains(got.out, "not loaded") {
		t.Errorf("tool: %+v", got)
	}
	// The key of the chat goes to no other host.
	keys = nil
	program(t, map[string]string{"OPENAI_API_KEY": "chat-key"}, "", "search", "--skills", dir, "--embed-url", at, "limousine")
	program(t, map[string]string{"OPENAI_API_KEY": "chat-key", "OPENAI_BASE_URL": at}, "", "search", "--skills", dir, "--embed-url", at, "limousine")
	if len(keys) < 2 || keys[0] != "" || keys[len(keys)-1] != "Bearer chat-key" {
		t.Errorf("keys %q", keys)
	}
}

// What cannot work is an error that says so, and an endpoint that fails leaves the search to words.
func TestEmbedURLErrors(t *testing.T) {
	var keys []string
	at := vectorsOf(t, &keys)
	for _, tt := range []struct {
		args []string
		in   string
		code int
		err  string
	}{
		{[]string{"--calibrate", "-"}, "", cli.ExitUsage, "--calibrate needs --embed-url"},
		{[]string{"--calibrate", "-", "--embed-url", at, "query"}, "", cli.ExitUsage, "want a query, or --calibrate FILE"},
		{nil, "", cli.ExitUsage, "want a query, or --calibrate FILE"},
		{[]string{"--embed-url", "localhost:8080", "pdf"}, "", cli.ExitUsage, `--embed-url "localhost:8080": want an address`},
		{[]string{"--embed-url", "http://me:secret@h/v1", "pdf"}, "", cli.ExitUsage, "want an address without a user"},
		{[]string{"--embed-url", at, "--embed-strong", "1.5", "pdf"}, "", cli.ExitUsage, "--embed-strong 1.5"},
		{[]string{"--embed-url", at, "--calibrate", "-"}, "", cli.ExitFailed, "no requests"},
		{[]string{"--embed-url", at, "--calibrate", "-"}, `{"query":"x","skil":"pdf"}`, cli.ExitFailed, `line 1: "skill" is missing`},
		{[]string{"--embed-url", at, "--calibrate", "-"}, `{"query":5,"skill":"pdf"}`, cli.ExitFailed, `line 1: "query": got number, want a string: want {"query"`},
		{[]string{"--embed-url", at, "--calibrate", "-"}, `{"query":"x","skill":"nothing"}`, cli.ExitFailed, `no skill is named "nothing"`},
		{[]string{"--embed-url", at, "--calibrate", "-"}, "{\"query\":\"x\",\"skill\":\"pdf\"}\nno json", cli.ExitFailed, "line 2"},
		{[]string{"--embed-url", at, "--embed-model", "broken", "--calibrate", "-"}, `{"query":"x","skill":"pdf"}`, cli.ExitFailed, "404 Not Found"},
		{[]string{"--embed-url", at, "--embed-model", "broken", "pdf"}, "", cli.ExitDone, "warning: searched by words only: "},
	} {
		got := program(t, nil, tt.in, append([]string{"search", "--skills", "../../examples/skills"}, tt.args...)...)
		if got.code != tt.code || !strings.Contains(got.err, tt.err) || strings.Contains(got.err, "secret") {
			t.Errorf("%q: code %d, %q; want %d, %q", tt.args, got.code, got.err, tt.code, tt.err)
		}
	}
}
