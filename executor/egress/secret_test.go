package egress_test

import (
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"runtime"
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
		for i := range echo { // writes single bytes, so that the secret arrives in pieces
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
		"http://example.com:" + w.plainPort() + "/":                         `egress: secret "API_KEY" is not for this host`, // the connection does not use TLS
		"http://example.com:" + w.securePort() + "/?key=" + placeholder:     `egress: secret "API_KEY" is put into headers only`,
		"http://example.com:" + w.securePort() + "/" + placeholder + "/api": `egress: secret "API_KEY" is put into headers only`,
	} {
		if status, body := get(t, w.client(t), address, "X-Key", placeholder); status != 403 || strings.TrimSpace(body) != want {
			t.Errorf("%s: %d %q, want %q", address, status, body, want)
		}
	}
	// The proxy cannot replace the placeholder within the program's own TLS.
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

// TestSecretManyTimes names a long secret so often that the headers would take 90 MB.
func TestSecretManyTimes(t *testing.T) {
	got := make(chan http.Header, 1)
	w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) { got <- r.Header }, func(w *world, p *egress.Policy) {
		withSecret(w, p)
		p.Secrets[0].Value = strings.Repeat("0123456789abcdef", 4<<10)
	})
	address := "http://example.com:" + w.securePort() + "/"
	many := strings.Repeat(placeholder, 1000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, header := range []string{many, "Basic " + base64.StdEncoding.EncodeToString([]byte(many))} {
		const want = `egress: secret "API_KEY" makes the headers longer than 262144 bytes: name it once`
		if status, body := get(t, w.client(t), address, "X-Key", header); status != 403 || strings.TrimSpace(body) != want {
			t.Errorf("%.20s: %d %q, want %q", header, status, body, want)
		}
	}
	runtime.ReadMemStats(&after)
	if made := after.TotalAlloc - before.TotalAlloc; made > 32<<20 {
		t.Errorf("%d bytes for two requests that are refused", made)
	}
	if status, body := get(t, w.client(t), address, "X-Key", placeholder); status != 200 {
		t.Fatalf("once: %d %q", status, body)
	}
	if sent := (<-got).Get("X-Key"); len(sent) != 64<<10 {
		t.Errorf("the host got %d bytes", len(sent))
	}
}

// TestSecretInWhatCannotBeRead checks that an encoded answer is refused, and that the value is removed
// from an invalid one.
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

// TestSecretIsNotToldEncoded checks that base64 that the proxy has sent does not come back, with any
// escapes. The host echoes it in the headers and the body of an answer, in one piece or in many.
func TestSecretIsNotToldEncoded(t *testing.T) {
	const odd = `p/w+?&=%"ÿ~end`
	escapes := map[string]func(string) string{
		"plain": func(s string) string { return s },
		"json":  func(s string) string { return strings.ReplaceAll(s, "/", `\/`) },
		"units": func(s string) string {
			return strings.NewReplacer("/", `\u002f`, "+", `\u002b`, "=", `\u003d`, "&", `\u0026`).Replace(s)
		},
		"query":   url.QueryEscape,
		"path":    url.PathEscape,
		"lower":   func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "/", "%2f"), "+", "%2b") },
		"html":    html.EscapeString,
		"to low":  strings.ToLower,
		"to high": strings.ToUpper,
		"urlsafe": func(s string) string { return strings.NewReplacer("+", "-", "/", "_").Replace(s) },
	}
	var escape func(string) string
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		_, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		text = escape(text)
		w.Header().Set("X-Echo", "<"+text+">")
		if r.URL.Path == "/whole" {
			_, _ = io.WriteString(w, "<"+text+">")
			return
		}
		for i := range len(text) {
			_, _ = io.WriteString(w, text[i:i+1])
			w.(http.Flusher).Flush()
		}
	}, func(_ *world, p *egress.Policy) {
		p.Secrets = []egress.Secret{{Name: "API_KEY", Value: odd, Placeholder: placeholder, Hosts: []string{"example.com"}}}
	})
	for name, f := range escapes {
		escape = f
		for _, around := range []string{"%s", "x:%s", "me:%s", "abc:%s", "%s:x", "me:%[1]s:y:%[1]s", "%s:me"} {
			plain := strings.ReplaceAll(around, "%[1]s", "%s")
			plain = strings.ReplaceAll(plain, "%s", placeholder)
			made := base64.StdEncoding.EncodeToString([]byte(strings.ReplaceAll(plain, placeholder, odd)))
			for _, path := range []string{"whole", "pieces"} {
				status, body, header := ask(t, w.client(t), "http://example.com:"+w.securePort()+"/"+path, "Basic "+base64.StdEncoding.EncodeToString([]byte(plain)))
				for where, told := range map[string]string{"body": body, "header": header} {
					if status != 200 || !strings.Contains(told, "[API_KEY]") || strings.Contains(told, f(made)[4:len(f(made))-4]) {
						t.Errorf("%s, %s, %s, %s: %d %q of %q", name, around, path, where, status, told, f(made))
					}
				}
			}
		}
	}
}

// TestSecretInPartOfAnEncoding checks that a host that cuts its echo, or encodes it in another way,
// returns no more than the ends of the value.
func TestSecretInPartOfAnEncoding(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		for before := range 4 {
			for _, coding := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
				fmt.Fprintln(w, coding.EncodeToString([]byte("abcd"[:before]+user+password+"z")))
			}
		}
	}, withSecret)
	status, body, _ := ask(t, w.client(t), "http://example.com:"+w.securePort()+"/", "Basic "+base64.StdEncoding.EncodeToString([]byte("u:"+placeholder)))
	for line := range strings.Lines(body) {
		text := strings.TrimSpace(line)
		if len(strings.ReplaceAll(text, "[API_KEY]", "")) > 14 || !strings.Contains(text, "[API_KEY]") {
			t.Errorf("%d %q", status, text)
		}
	}
}

func ask(t *testing.T, c *http.Client, address, authorization string) (status int, body, header string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", authorization)
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text), answer.Header.Get("X-Echo")
}
