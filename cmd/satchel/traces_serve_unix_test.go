//go:build unix

package main

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// A trace is served at a URL with a key, until SIGINT ends the program with code 0.
func TestTraceServe(t *testing.T) {
	p, _, _, out := listening(t, "trace", "--serve", "127.0.0.1:0", wholeTrace)
	url, err := out.ReadString('\n')
	if err != nil || !regexp.MustCompile(`^http://127\.0\.0\.1:\d+/[A-Z2-7]{26}/\n$`).MatchString(url) {
		t.Fatalf("the first line is %q, %v", url, err)
	}
	url = strings.TrimSpace(url)
	for path, want := range map[string]int{url: http.StatusOK, url[:len(url)-27]: http.StatusNotFound, url + "x": http.StatusNotFound} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != want || strings.Contains(string(body), "Fill in form.pdf.") != (want == http.StatusOK) {
			t.Errorf("%s: code %d, %d bytes, %v", path, answer.StatusCode, len(body), err)
		}
		if answer.Header.Get("Referrer-Policy") != "no-referrer" || !strings.Contains(answer.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: header %v", path, answer.Header)
		}
	}
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
	// listening checks the exit code.
}
