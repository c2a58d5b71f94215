package measure

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

const key = "sk-0123456789"

// post sends a chat completion request and returns status and body.
func post(t *testing.T, through http.RoundTripper, url, body string) (int, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+key)
	resp, err := (&http.Client{Transport: through}).Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

func ask(text string) string {
	return `{"model":"m","messages":[{"role":"user","content":"` + text + `"}]}`
}

// recorded records the answers to some requests, one cassette for all.
func recorded(t *testing.T, script satcheltest.Script, bodies ...string) (dir string, answers []string) {
	t.Helper()
	server, err := satcheltest.Open(script)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	dir = filepath.Join(t.TempDir(), "new", "cassettes")
	tapes, err := recordCassettes(dir, key, http.DefaultTransport)
	if err != nil {
		t.Fatal(err)
	}
	defer tapes.Close()
	c, err := tapes.Open("one")
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range bodies {
		_, answer, err := post(t, c, server.URL(), body)
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, answer)
	}
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	return dir, answers
}

// open opens a cassette to replay.
func open(t *testing.T, dir, name string) *cassette {
	t.Helper()
	tapes, err := replayCassettes(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tapes.Close() })
	c, err := tapes.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// nowhere is the URL of an endpoint that is not there.
const nowhere = "http://127.0.0.1:1/v1"

func TestReplay(t *testing.T) {
	stream := `{"model":"m","stream":true,"messages":[{"role":"user","content":"two <b>"}]}`
	script := func(r satcheltest.Request) satcheltest.Response {
		if r.Contains("fail") {
			return satcheltest.Response{Status: 429, Err: "wait, " + key}
		}
		return satcheltest.Response{Text: "You said " + r.Messages[0].Text, Usage: &core.Usage{Prompt: 7, Completion: 3}}
	}
	dir, answers := recorded(t, script, ask("one"), stream, ask("fail"))
	if !strings.Contains(answers[1], "data: ") {
		t.Fatalf("answer %q is not streamed", answers[1])
	}
	c := open(t, dir, "one")
	for i, body := range []string{ask("fail"), stream, `{ "messages":[{"content":"one","role":"user"}], "model":"m" }`} {
		status, answer, err := post(t, c, nowhere, body)
		if err != nil {
			t.Fatal(err)
		}
		want, wantStatus := answers[2-i], 200
		if i == 0 {
			want, wantStatus = strings.ReplaceAll(want, key, "[key]"), 429
		}
		if answer != want || status != wantStatus {
			t.Errorf("request %d: status %d, answer %q, want %d, %q", i, status, answer, wantStatus, want)
		}
	}
	if c.Err() != nil {
		t.Errorf("error %v", c.Err())
	}
	if models := c.dir.Models(); len(models) != 1 || models[0] != "m" {
		t.Errorf("models %v", models)
	}
}

func TestNoKeyIsKept(t *testing.T) {
	script := func(satcheltest.Request) satcheltest.Response { return satcheltest.Response{Text: "the key is " + key} }
	dir, _ := recorded(t, script, ask("my key: "+key))
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("files %v, %v", entries, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, entries[0].Name()))
	if err != nil || !strings.Contains(string(data), "my key: [key]") {
		t.Fatalf("%s, %v", data, err)
	}
	for _, text := range []string{key, "Authorization", "Bearer", "127.0.0.1"} {
		if strings.Contains(string(data), text) {
			t.Errorf("the cassette holds %q:\n%s", text, data)
		}
	}
}

func TestDifference(t *testing.T) {
	script := func(satcheltest.Request) satcheltest.Response { return satcheltest.Response{Text: "yes"} }
	dir, _ := recorded(t, script, `{"model":"m","temperature":1,"messages":[{"role":"system","content":"a\nb\nc"},{"role":"user","content":"x"}]}`)
	c := open(t, dir, "one")
	_, _, err := post(t, c, nowhere, `{"model":"m","messages":[{"role":"system","content":"a\nB\nc"},{"role":"user","content":"x"},{"role":"user","content":"y"}]}`)
	diff, ok := errors.AsType[*cassetteDifference](err)
	if !ok {
		t.Fatalf("error %v, want a cassetteDifference", err)
	}
	want := "request 1 differs from " + filepath.Join(dir, "one.json") + `
- recorded
+ sent
- messages[0].content: b
- temperature: 1
+ messages[0].content: B
+ messages[2].content: y
+ messages[2].role: user`
	if diff.Error() != want || c.Err() == nil {
		t.Errorf("got\n%s\nwant\n%s", diff, want)
	}
	if _, answer, err := post(t, c, nowhere, `{"temperature":1,"model":"m","messages":[{"role":"system","content":"a\nb\nc"},{"role":"user","content":"x"}]}`); err != nil || !strings.Contains(answer, "yes") {
		t.Errorf("answer %q, error %v: a difference uses up nothing", answer, err)
	}
	_, _, err = post(t, c, nowhere, ask("more"))
	if err == nil || !strings.Contains(err.Error(), "- (nothing)") || !strings.Contains(err.Error(), "+ messages[0].content: more") {
		t.Errorf("error %v", err)
	}
}

func TestConversationThatWasNotRecorded(t *testing.T) {
	script := func(satcheltest.Request) satcheltest.Response { return satcheltest.Response{Text: "yes"} }
	dir, _ := recorded(t, script, ask("load the form"))
	_, _, err := post(t, open(t, dir, "two"), nowhere, ask("load the letter"))
	want := filepath.Join(dir, "two.json") + " was not recorded; the nearest is " + filepath.Join(dir, "one.json") + `
- recorded
+ sent
- messages[0].content: load the form
+ messages[0].content: load the letter`
	if diff, ok := errors.AsType[*cassetteDifference](err); !ok || diff.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	empty := t.TempDir()
	if _, err := replayCassettes(empty); err == nil || err.Error() != empty+" has no cassettes: --record DIR writes them" {
		t.Errorf("got %v", err)
	}
}

func TestConnectionErrorsAreKept(t *testing.T) {
	dir := t.TempDir()
	tapes, err := recordCassettes(dir, key, http.DefaultTransport)
	if err != nil {
		t.Fatal(err)
	}
	defer tapes.Close()
	c, err := tapes.Open("one")
	if err != nil {
		t.Fatal(err)
	}
	_, _, failed := post(t, c, nowhere, ask("x"))
	if failed == nil {
		t.Fatal("no error")
	}
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	_, _, err = post(t, open(t, dir, "one"), nowhere, ask("x"))
	if err == nil || err.Error() != failed.Error() {
		t.Errorf("error %v, want %v", err, failed)
	}
}

func TestCancelledRequestsAreNotKept(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancelling := transport(func(r *http.Request) (*http.Response, error) {
		cancel()
		return nil, r.Context().Err()
	})
	tapes, err := recordCassettes(t.TempDir(), key, cancelling)
	if err != nil {
		t.Fatal(err)
	}
	defer tapes.Close()
	c, err := tapes.Open("one")
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, nowhere, strings.NewReader(ask("x")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&http.Client{Transport: c}).Do(r); !errors.Is(err, context.Canceled) { //nolint:bodyclose // there is none
		t.Errorf("error %v", err)
	}
	if len(c.tapeContent.Exchanges) != 0 {
		t.Errorf("kept %v", c.tapeContent.Exchanges)
	}
}

func TestKeysWithEscapes(t *testing.T) {
	d := &cassettes{key: `sk-"quoted"&more`}
	for _, text := range []string{`a sk-"quoted"&more b`, `a sk-\"quoted\"\u0026more b`} {
		if got := d.withoutKey(text); got != "a [key] b" {
			t.Errorf("%s becomes %s", text, got)
		}
	}
	if got := (&cassettes{key: "none"}).withoutKey("none of it"); got != "none of it" {
		t.Errorf("got %s", got)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func TestBrokenCassettes(t *testing.T) {
	good := `{"v":1,"exchanges":[{"request":{},"status":200,"response":"{}"}]}`
	tests := map[string]struct{ tapeContent, want string }{
		"cut":     {good[:40], "is broken"},
		"empty":   {"", "is broken"},
		"version": {`{"v":2}`, "it has version 2, and this program reads version 1"},
		"partial": {`{"v":1,"exchanges":[{"request":{}}]}`, "exchange 1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "one.json")
			if err := os.WriteFile(file, []byte(test.tapeContent), 0o600); err != nil {
				t.Fatal(err)
			}
			tapes, err := replayCassettes(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer tapes.Close()
			_, err = tapes.Open("one")
			if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q and %q", err, file, test.want)
			}
			if models := tapes.Models(); len(models) != 0 {
				t.Errorf("models %v", models)
			}
		})
	}
	if _, err := replayCassettes(t.TempDir()); err == nil || !strings.Contains(err.Error(), "has no cassettes") {
		t.Errorf("error %v", err)
	}
	dir, _ := recorded(t, func(satcheltest.Request) satcheltest.Response { return satcheltest.Response{Text: "Yes."} }, ask("one"))
	tapes, err := replayCassettes(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tapes.Close()
	for _, name := range []string{"../one", "a/b", ""} {
		if _, err := tapes.Open(name); err == nil {
			t.Errorf("%q was opened", name)
		}
	}
	if _, err := replayCassettes(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing directory was opened")
	}
}

func TestSideBySide(t *testing.T) {
	bodies := []string{ask("a"), ask("b"), ask("c"), ask("d")}
	script := func(r satcheltest.Request) satcheltest.Response {
		return satcheltest.Response{Text: "+" + r.Messages[0].Text}
	}
	dir, _ := recorded(t, script, bodies...)
	c := open(t, dir, "one")
	var wg sync.WaitGroup
	for _, name := range []string{"d", "c", "b", "a"} {
		wg.Go(func() {
			if _, answer, err := post(t, c, nowhere, ask(name)); err != nil || !strings.Contains(answer, "+"+name) {
				t.Errorf("%s: answer %q, %v", name, answer, err)
			}
		})
	}
	wg.Wait()
}

func TestLongLinesAreCut(t *testing.T) {
	long := strings.Repeat("é", 5000)
	was, is := changedLines(long+"1"+long, long+"2"+long)
	for _, line := range append(was, is...) {
		if len(line) > maxDiffLine+2*len("…")+4 || !strings.HasPrefix(line, "…é") || !strings.ContainsAny(line, "12") {
			t.Errorf("line %q", line)
		}
	}
	if lines := bounded(make([]string, maxDiffLines+5)); lines[maxDiffLines] != "… and 5 more lines" {
		t.Errorf("lines %q", lines)
	}
	if comparePaths("a[2]", "a[10]") >= 0 || comparePaths("a[12]", "a[1]") <= 0 || comparePaths("a", "b") >= 0 {
		t.Error("paths are not in order")
	}
}
