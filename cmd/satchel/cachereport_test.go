package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// logLine is a request of a log, with a question that is long enough to be worth
// caching.
func logLine(session, system string, turns ...string) string {
	messages := []map[string]any{{"role": "system", "content": system}}
	for _, text := range turns {
		messages = append(messages, map[string]any{"role": "user", "content": text})
	}
	line, err := json.Marshal(map[string]any{
		"session": session, "time": "2026-10-01T10:00:00Z",
		"request": map[string]any{"model": "m", "messages": messages},
		"usage":   map[string]any{"prompt_tokens": 100, "prompt_tokens_details": map[string]any{"cached_tokens": 25}},
	})
	if err != nil {
		panic(err)
	}
	return string(line) + "\n"
}

func TestCacheReport(t *testing.T) {
	long := strings.Repeat("word ", 1500)
	log := logLine("a", "You help. It is 10:01.", long) +
		logLine("b", "You help.", "hi") +
		logLine("a", "You help. It is 10:02.", long, "more") + "\n" +
		logLine("a", "You help. It is 10:02.", long, "more", "and more")
	got := program(t, nil, log, "cache-report", "-")
	for _, want := range []string{
		"conversation a: requests 3, prompt tokens 4573, largest 1530, prefix breaks 1\n",
		"  the provider reported 300 prompt tokens, 25.0 % of them cached\n",
		"  line 3 breaks the prefix at message 0 (system): 1508 tokens are sent anew\n",
		"    was  \"You help. It is 10:01.\"\n    is   \"You help. It is 10:02.\"\n    this looks like a date or a time: move it to the end of the request\n",
		"conversation b: requests 1, prompt tokens 12, largest 12, prefix breaks 0\n",
		"GPT-5, GPT-5.1",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("output lacks %q", want)
		}
	}
	if got.code != 0 || t.Failed() {
		t.Errorf("code %d, out:\n%s\nerr: %s", got.code, got.out, got.err)
	}
}

func TestCacheReportJSON(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(file, []byte(logLine("a", "<one>", "hi")+logLine("b", "<two>", "hi")), 0o600); err != nil {
		t.Fatal(err)
	}
	got := program(t, nil, "", "cache-report", "--json", "--key", "model", file)
	var report cacheReport
	if err := json.Unmarshal([]byte(got.out), &report); err != nil {
		t.Fatalf("%v: %s %s", err, got.out, got.err)
	}
	if report.Conversation != "m" || report.Requests != 2 || len(report.Breaks) != 1 || report.Breaks[0].Before != "<one>" || report.Breaks[0].Line != 2 || len(report.Costs) < 5 {
		t.Errorf("%+v", report)
	}
}

func TestCacheReportErrors(t *testing.T) {
	for name, test := range map[string]struct {
		in   string
		args []string
		code int
		err  string
	}{
		"no file":      {"", []string{"cache-report"}, exitUsage, "<file>"},
		"missing file": {"", []string{"cache-report", filepath.Join(t.TempDir(), "none")}, exitFailed, "none"},
		"empty":        {"\n", []string{"cache-report", "-"}, exitFailed, "the log is empty"},
		"bad line":     {logLine("a", "x") + "{", []string{"cache-report", "-"}, exitFailed, "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := program(t, nil, test.in, test.args...); got.code != test.code || got.out != "" || !strings.Contains(got.err, test.err) {
				t.Errorf("code %d, out %q, err %q", got.code, got.out, got.err)
			}
		})
	}
}
