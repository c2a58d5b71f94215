package egress_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/executor/egress"
)

const (
	value       = "sk-live-0123456789"
	placeholder = "satchel-secret-00112233445566778899aabbccddeeff"
)

// withSecret grants a secret for example.com.
func withSecret(_ *world, p *egress.Policy) {
	p.Secrets = []egress.Secret{{Name: "API_KEY", Value: value, Placeholder: placeholder, Hosts: []string{"example.com"}}}
}

// TestSecretIsPutIn: the host gets the value, whose echo the program never sees.
func TestSecretIsPutIn(t *testing.T) {
	got := make(chan http.Header, 8)
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header
		w.Header().Set("X-Echo", r.Header.Get("Authorization"))
		w.Header().Set("Trailer", "X-Late")
		w.WriteHeader(http.StatusEarlyHints)
		echo := r.Header.Get("Authorization")
		for i := range echo { // in single bytes, so that it comes in pieces
			_, _ = io.WriteString(w, echo[i:i+1])
			w.(http.Flusher).Flush()
		}
		w.Header().Set("X-Late", echo)
	}, withSecret)
	r, err := http.NewRequest(http.MethodGet, "http://example.com:"+w.securePort()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+placeholder)
	r.Header.Set("Range", "bytes=0-3")
	answer, err := w.client(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	sent := <-got
	if sent.Get("Authorization") != "Bearer "+value || sent.Get("Range") != "" {
		t.Errorf("the host got %v", sent)
	}
	if string(body) != "Bearer [API_KEY]" || answer.Header.Get("X-Echo") != "Bearer [API_KEY]" || answer.Trailer.Get("X-Late") != "Bearer [API_KEY]" {
		t.Errorf("%q %v %v", body, answer.Header, answer.Trailer)
	}
	if status, body := get(t, w.client(t), "http://example.com:"+w.securePort()+"/", "Authorization", "Basic bWU6c2F0Y2hlbC1zZWNyZXQtMDAxMTIyMzM0NDU1NjY3Nzg4OTlhYWJiY2NkZGVlZmY="); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	r.Header = <-got
	if user, password, ok := r.BasicAuth(); !ok || user != "me" || password != value {
		t.Errorf("the host got %q %q", user, password)
	}
}

// TestSecretElsewhere sends the placeholder where its value must not go.
func TestSecretElsewhere(t *testing.T) {
	seen := make(chan string, 8)
	w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) { seen <- fmt.Sprint(r.Header, r.URL) }, func(w *world, p *egress.Policy) {
		withSecret(w, p)
		p.Rules = append(p.Rules, rules(t, "http://other.example:"+w.plainPort())...)
	})
	for address, want := range map[string]string{
		"http://other.example:" + w.plainPort() + "/":                       `egress: secret "API_KEY" is not for this host`,
		"http://example.com:" + w.plainPort() + "/":                         `egress: secret "API_KEY" is not for this host`, // not over TLS
		"http://example.com:" + w.securePort() + "/?key=" + placeholder:     `egress: secret "API_KEY" is put into headers only`,
		"http://example.com:" + w.securePort() + "/" + placeholder + "/api": `egress: secret "API_KEY" is put into headers only`,
	} {
		if status, body := get(t, w.client(t), address, "X-Key", placeholder); status != 403 || strings.TrimSpace(body) != want {
			t.Errorf("%s: %d %q, want %q", address, status, body, want)
		}
	}
	// Inside the program's own TLS it stays what it is.
	if status, body := get(t, w.client(t), "https://example.com:"+w.securePort()+"/", "X-Key", placeholder); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if got := <-seen; strings.Contains(got, value) || !strings.Contains(got, placeholder) {
		t.Errorf("the host saw %s", got)
	}
	if len(seen) > 0 {
		t.Errorf("a host was asked all the same: %s", <-seen)
	}
}

// TestSecretInWhatCannotBeRead refuses an answer in which nothing can be found,
// and takes the value out of one that is broken.
func TestSecretInWhatCannotBeRead(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/encoded" {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, "whatever")
			return
		}
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(c, r.Header.Get("X-Key")+"\r\n\r\n")
		_ = c.Close()
	}, withSecret)
	for _, path := range []string{"encoded", "broken"} {
		status, body := get(t, w.client(t), "http://example.com:"+w.securePort()+"/"+path, "X-Key", placeholder)
		if status != http.StatusBadGateway || strings.Contains(body, value) {
			t.Errorf("%s: %d %q", path, status, body)
		}
	}
	for i := range 2 {
		if e := w.last(t, i+1); strings.Contains(e.Reason, value) {
			t.Errorf("the log tells it: %+v", e)
		}
	}
}
