package main

import (
	"encoding/json"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/measure"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
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
		"  line 3 breaks the prefix at message 0 (system): 1507 tokens are sent again\n",
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
	var report measure.CacheReport
	if err := json.Unmarshal([]byte(got.out), &report); err != nil {
		t.Fatalf("%v: %s %s", err, got.out, got.err)
	}
	if report.Conversation != "m" || report.Requests != 2 || len(report.Breaks) != 1 || report.Breaks[0].Before != "<one>" || report.Breaks[0].Line != 2 || len(report.Costs) < 5 {
		t.Errorf("%+v", report)
	}
}

// Only what stood behind the break before is sent again, not the long text that is gone.
func TestCacheReportOfAHistoryThatShrinks(t *testing.T) {
	long := strings.Repeat("word ", 3000)
	got := program(t, nil, logLine("a", "You help.", "a", long, "b")+logLine("a", "You help.", "a", "b"), "cache-report", "-")
	if want := "  line 2 breaks the prefix at message 2 (user): 2 tokens are sent again\n"; !strings.Contains(got.out, want) {
		t.Errorf("output lacks %q:\n%s%s", want, got.out, got.err)
	}
}

// Custom tools and their calls are part of a request.
func TestCacheReportOfCustomTools(t *testing.T) {
	line := func(name, input string) string {
		return `{"tools":[{"type":"custom","custom":{"name":"` + name + `"}}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"type":"custom","custom":{"name":"x","input":"` + input + `"}}]}]}` + "\n"
	}
	got := program(t, nil, line("one", "a")+line("one", "b")+line("two", "b"), "cache-report", "-")
	for _, want := range []string{"prefix breaks 2\n", "line 2 breaks the prefix at message 1 (assistant): ", "line 3 breaks the prefix at tool one: "} {
		if !strings.Contains(got.out, want) {
			t.Errorf("output lacks %q:\n%s%s", want, got.out, got.err)
		}
	}
}

// What a provider cannot have reported is not added up.
func TestCacheReportOfImplausibleUsage(t *testing.T) {
	line := func(usage string) string {
		return `{"messages":[{"role":"user","content":"hi"}],"response":"text","usage":` + usage + "}\n"
	}
	usage := func(prompt, cached string) string {
		return line(`{"prompt_tokens":` + prompt + `,"prompt_tokens_details":{"cached_tokens":` + cached + `}}`)
	}
	wrong := usage("2", "99999") + usage("-5", "3") + usage("9000000000000000000", "1") + usage("9", "-9")
	for name, tt := range map[string]struct{ log, want, not string }{
		"some":    {wrong + usage("10", "5") + line("7"), "reported 10 prompt tokens, 50.0 % of them cached\n  not plausible, and left out: the usage of 4 lines\n", ""},
		"only":    {wrong, "\n  not plausible, and left out: the usage of 4 lines\n", "reported"},
		"none":    {line("null") + usage("5.5", `"x"`), "requests 2,", "reported"},
		"nothing": {usage("0", "0"), "requests 1,", "plausible"},
	} {
		got := program(t, nil, tt.log, "cache-report", "-")
		if got.code != 0 || !strings.Contains(got.out, tt.want) || tt.not != "" && strings.Contains(got.out, tt.not) {
			t.Errorf("%s: code %d, output lacks %q or has %q:\n%s%s", name, got.code, tt.want, tt.not, got.out, got.err)
		}
	}
}

// Names in a log cannot steer the terminal, nor hide what they are.
func TestCacheReportIsPrintable(t *testing.T) {
	evil := `e\u001b[31m\u202evil\u200b\u2066\ufeff\u009b`
	tool := func(text string) string {
		return `{"session":"` + evil + `","tools":[{"type":"function","function":{"name":"` + evil + `","description":"` + text + `"}}],"messages":[{"role":"` + evil + `","content":"` + text + evil + `"}]}` + "\n"
	}
	got := program(t, nil, tool("a")+tool("b")+strings.Replace(tool("b"), `"content":"b`, `"content":"c`, 1), "cache-report", "-")
	if got.code != 0 || !strings.Contains(got.out, "tool e\uFFFD[31m\uFFFDvil") || !strings.Contains(got.out, "message 0 (e") {
		t.Errorf("code %d, out:\n%q\n%s", got.code, got.out, got.err)
	}
	for _, r := range got.out {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			t.Errorf("output has %U:\n%q", r, got.out)
			break
		}
	}
	got = program(t, nil, `{"messages":["`+"\u202e"+`"]}`, "cache-report", "-")
	if got.code != cli.ExitFailed || strings.ContainsRune(got.err, 0x202e) {
		t.Errorf("code %d, %q", got.code, got.err)
	}
}

func TestCacheReportErrors(t *testing.T) {
	for name, test := range map[string]struct {
		in   string
		args []string
		code int
		err  string
	}{
		"no file":      {"", []string{"cache-report"}, cli.ExitUsage, "<file>"},
		"missing file": {"", []string{"cache-report", filepath.Join(t.TempDir(), "none")}, cli.ExitFailed, "none"},
		"empty":        {"\n", []string{"cache-report", "-"}, cli.ExitFailed, "the log is empty"},
		"bad line":     {logLine("a", "x") + "{", []string{"cache-report", "-"}, cli.ExitFailed, "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := program(t, nil, test.in, test.args...); got.code != test.code || got.out != "" || !strings.Contains(got.err, test.err) {
				t.Errorf("code %d, out %q, err %q", got.code, got.out, got.err)
			}
		})
	}
}
