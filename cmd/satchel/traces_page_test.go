package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

func TestTracePage(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "trace.html")
	if err := os.WriteFile(out, []byte("what was there"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := program(t, nil, "", "trace", "--html", out, wholeTrace)
	if got.code != cli.ExitDone || got.out != "" || got.err != "" {
		t.Fatalf("code %d, out %q, err %q", got.code, got.out, got.err)
	}
	page, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(page), "Fill in form.pdf.") || strings.Contains(string(page), "what was there") {
		t.Errorf("the page has %d bytes, %v", len(page), err)
	}
	if info, err := os.Stat(out); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the page has mode %v, %v", info.Mode(), err)
	}
	if got := program(t, nil, "", "trace", "--html", "-", wholeTrace); got.code != cli.ExitDone || got.out != string(page) {
		t.Errorf("on standard output: code %d, %d bytes, err %q", got.code, len(got.out), got.err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%d files, %v, want the page alone", len(entries), err)
	}
}

func TestTraceComparison(t *testing.T) {
	dir := t.TempDir()
	out, torn := filepath.Join(dir, "both.html"), filepath.Join(dir, "torn.jsonl")
	text, err := os.ReadFile(wholeTrace)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(torn, text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	got := program(t, nil, "", "trace", "--compare", wholeTrace, torn, "--html", out)
	if got.code != cli.ExitDone || got.out != "" || !strings.Contains(got.err, "1 line of the trace") {
		t.Fatalf("code %d, out %q, err %q", got.code, got.out, got.err)
	}
	page, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(page), "whole.jsonl") || !strings.Contains(string(page), "torn.jsonl") {
		t.Errorf("the page has %d bytes, %v", len(page), err)
	}
}

// Flags that do not go together, and pages that would replace the trace, are errors before anything is
// read.
func TestTraceFlags(t *testing.T) {
	copied := filepath.Join(t.TempDir(), "trace.jsonl")
	text, err := os.ReadFile(wholeTrace)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "<file>"},
		{[]string{"--json", "--requests", wholeTrace}, "--json"},
		{[]string{"--html", "x.html", "--serve", "127.0.0.1:0", wholeTrace}, "--html"},
		{[]string{"--html", "", wholeTrace}, "--html is empty"},
		{[]string{"--serve", "", wholeTrace}, "--serve is empty"},
		{[]string{"--compare", wholeTrace, copied}, "--html OUT"},
		{[]string{"--compare", "--html", "x.html", wholeTrace}, "two files"},
		{[]string{"--html", copied, wholeTrace, copied}, "is a file of the trace"},
		{[]string{"--serve", "0.0.0.0:0", wholeTrace}, "loopback"},
		{[]string{"--serve", "example.com:80", wholeTrace}, "loopback"},
		{[]string{"--serve", "127.0.0.1", wholeTrace}, "HOST:PORT"},
	} {
		got := program(t, nil, "", append([]string{"trace"}, test.args...)...)
		if got.code != cli.ExitUsage || got.out != "" || !strings.Contains(got.err, test.want) {
			t.Errorf("%q: code %d, out %q, err %q", test.args, got.code, got.out, got.err)
		}
	}
	if after, err := os.ReadFile(copied); err != nil || string(after) != string(text) {
		t.Errorf("the trace has changed, %v", err)
	}
	if got := program(t, nil, "", "trace", "--html", filepath.Join(t.TempDir(), "none", "x.html"), wholeTrace); got.code != cli.ExitFailed {
		t.Errorf("a page in no directory: code %d, err %q", got.code, got.err)
	}
	if got := program(t, nil, "nothing", "trace", "--serve", "127.0.0.1:0", "-"); got.code != cli.ExitFailed || got.out != "" {
		t.Errorf("no trace is served: code %d, out %q, err %q", got.code, got.out, got.err)
	}
}
