package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/examples/internal/rehearse"
	"github.com/satchel-go/satchel/satcheltest"
)

// serving runs the server until stop is called.
func serving(t *testing.T, at places) (url string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- run(ctx, at, commands{}, "127.0.0.1:0", ready) }()
	select {
	case address := <-ready:
		url = "http://" + address
	case err := <-ended:
		t.Fatal(err)
	}
	return url, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("shut down: %v", err)
		}
	}
}

// ask sends a request and returns the status and the body.
func ask(t *testing.T, token, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// A user uploads a log, a skill makes a table of it, the server is restarted, and the
// conversation goes on with its files. Another tenant sees neither skills nor files.
func TestServer(t *testing.T) { converse(t, places{dir: t.TempDir()}) }

// Each tenant of each process has a trace of its own.
func TestServerTraces(t *testing.T) {
	traces := t.TempDir()
	converse(t, places{dir: t.TempDir(), traces: traces})
	files, err := filepath.Glob(filepath.Join(traces, "*.jsonl"))
	if err != nil || len(files) != 4 { // two processes
		t.Fatalf("%q, %v", files, err)
	}
	calls := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		calls += strings.Count(string(text), `"event":"call"`)
		if !strings.Contains(string(text), `"event":"end"`) {
			t.Errorf("%s has no end", file)
		}
	}
	if calls < 4 {
		t.Errorf("%d calls", calls)
	}
}

// Six chats talk at the same time, two turns each, and each has its own answers.
func TestSixChatsAtOnce(t *testing.T) {
	rehearse.With(t, satcheltest.Plan(
		satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("log-triage"), satcheltest.Do("Read", map[string]any{"file_path": "app.log"})}, Answer: "Send the log."},
		satcheltest.Turn{Answer: "As I said."},
	))
	url, stop := serving(t, places{dir: t.TempDir()})
	defer stop()
	var chats sync.WaitGroup
	for _, chat := range []string{"a", "b", "c", "d", "e", "f"} {
		chats.Go(func() {
			for turn, want := range []string{"Send the log.", "As I said."} {
				status, events := ask(t, "token-of-ops", "POST", url+"/chats/"+chat+"/messages", "What is in the log?")
				if said := spoken(events); status != http.StatusOK || said != want {
					t.Errorf("turn %d of chat %s: %d %q, want %q", turn+1, chat, status, said, want)
				}
			}
		})
	}
	chats.Wait()
}

// spoken joins the pieces of text among events that ended well.
func spoken(events string) string {
	if !strings.HasSuffix(events, "event: done\ndata: \"\"\n\n") {
		return events
	}
	var said strings.Builder
	for event := range strings.SplitSeq(events, "\n\n") {
		if data, ok := strings.CutPrefix(event, "event: text\ndata: "); ok {
			var piece string
			_ = json.Unmarshal([]byte(data), &piece)
			said.WriteString(piece)
		}
	}
	return said.String()
}

// converse is the conversation of TestServer.
func converse(t *testing.T, at places) {
	t.Helper()
	model := rehearse.With(t, satcheltest.Plan(
		satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("log-triage"), satcheltest.Do("skill_run", map[string]any{
			"skill":   "log-triage",
			"command": "python3 scripts/top_errors.py inputs/app.log > out/errors.tsv",
			"outputs": map[string]any{"globs": []string{"$OUTPUT_DIR/*.tsv"}, "save": true},
		})}, Answer: "There are two errors."},
		satcheltest.Turn{Answer: "As I said, two."},
	))
	url, stop := serving(t, at)
	const ops, docs = "token-of-ops", "token-of-docs"
	if status, ref := ask(t, ops, "PUT", url+"/chats/night/files/app.log", "2026 ERROR disk is full\n2026 ERROR disk is full\n"); status != http.StatusOK || ref != "artifact://uploads/app.log@0\n" {
		t.Fatalf("upload: %d %s", status, ref)
	}
	status, events := ask(t, ops, "POST", url+"/chats/night/messages", "What is in the log?")
	if status != http.StatusOK || !strings.Contains(events, "event: text\n") || !strings.HasSuffix(events, "event: done\ndata: \"\"\n\n") {
		t.Fatalf("turn: %d %s", status, events)
	}
	if first := model.Requests()[0]; !first.Contains("What is in the log?\n\n[attached: work/inputs/app.log, ") {
		t.Errorf("the model is not told of the upload: %+v", first.Messages)
	}
	stop()

	url, stop = serving(t, at)
	defer stop()
	if status, table := ask(t, ops, "GET", url+"/chats/night/files/out/errors.tsv", ""); status != http.StatusOK || !strings.Contains(table, "disk is full") {
		t.Errorf("download: %d %q", status, table)
	}
	if status, upload := ask(t, ops, "GET", url+"/chats/night/files/uploads/app.log", ""); status != http.StatusOK || !strings.HasPrefix(upload, "2026") {
		t.Errorf("the upload: %d %q", status, upload)
	}
	if _, events := ask(t, ops, "POST", url+"/chats/night/messages", "How many?"); !strings.Contains(events, "event: done") {
		t.Errorf("turn after the restart: %s", events)
	}
	requests := model.Requests()
	if last := requests[len(requests)-1]; last.Turn() != 2 || !last.Contains("There are two errors.") || !last.Contains("errors.tsv") {
		t.Errorf("the restart lost messages: %+v", last.Messages)
	}

	if status, _ := ask(t, docs, "GET", url+"/chats/night/files/out/errors.tsv", ""); status != http.StatusNotFound {
		t.Errorf("another tenant's file: %d", status)
	}
	ask(t, docs, "POST", url+"/chats/night/messages", "How many?")
	theirs := model.Requests()[len(requests):]
	if first := theirs[0]; first.Contains("log-triage") || first.Contains("two errors") || !first.Contains("release-notes") {
		t.Errorf("the other tenant is sent %+v", first.Messages)
	}
	if !theirs[1].Contains(`unknown skill "log-triage"`) {
		t.Errorf("the other tenant loads a skill that is not its own: %+v", theirs[1].Messages)
	}
	for url, want := range map[string]int{url + "/chats/night/messages": http.StatusUnauthorized, url + "/chats/No.Name/messages": http.StatusBadRequest} {
		token := map[bool]string{true: "nobody", false: ops}[want == http.StatusUnauthorized]
		if status, _ := ask(t, token, "POST", url, "hi"); status != want {
			t.Errorf("%s: %d, want %d", url, status, want)
		}
	}
	if status, _ := ask(t, ops, "DELETE", url+"/chats/night", ""); status != http.StatusOK {
		t.Errorf("end: %d", status)
	}
	ask(t, ops, "POST", url+"/chats/night/messages", "How many?")
	requests = model.Requests()
	if last := requests[len(requests)-1]; last.Contains("As I said") {
		t.Errorf("a conversation that has ended is sent again: %+v", last.Messages)
	}
}
