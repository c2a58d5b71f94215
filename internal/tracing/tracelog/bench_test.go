package tracelog

import (
	"fmt"
	"strings"
	"testing"
)

// longTrace is a trace of a conversation of many calls, two in a turn.
func longTrace(calls int) string {
	var b strings.Builder
	seq := 0
	add := func(format string, args ...any) {
		seq++
		fmt.Fprintf(&b, `{"v":1,"seq":%d,"time":"2026-11-28T10:00:00Z",`, seq)
		fmt.Fprintf(&b, format, args...)
		b.WriteString("}\n")
	}
	text := strings.Repeat("All work and no play. ", 40)
	add("%s", header("p", 1, "whole"))
	for i := range calls {
		digest := fmt.Sprintf("sha256:%064d", i)
		add("%s", message(digest, fmt.Sprint(i, text)))
		add(`"event":"call","session":"s","turn":%d,"call":%d,"model":"gpt-5","keep":%d,"add":[%q],"tools":"","parts":{"history":%d},"texts":[{"skill":"pdf","message":0,"loaded_by":1,"mode":"turn","tokens":100,"leaves":"turn"}]`, i/2+1, i+1, i, digest, 200*i)
		add(`"event":"answer","session":"s","turn":%d,"call":%d,"text":%q,"tool_calls":[{"id":"c","name":"skill_load","arguments":"{}"}],"prompt_tokens":%d`, i/2+1, i+1, text, 200*i)
	}
	return b.String()
}

// BenchmarkRead reads a trace of 10,000 calls.
func BenchmarkRead(b *testing.B) {
	text := longTrace(10_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if trace, err := readTexts(text); err != nil || len(trace.Calls()) != 10_000 {
			b.Fatal(err)
		}
	}
}

// The messages of calls take no more memory than the differences that the trace holds.
func TestLongConversation(t *testing.T) {
	const calls = 10_000
	trace := read(t, longTrace(calls))
	all := trace.Calls()
	held := 0
	for _, c := range all {
		held += len(c.Added)
	}
	last := all[len(all)-1]
	if len(all) != calls || held != calls || last.Len() != calls || !strings.HasPrefix(last.Messages()[7].Content, "7All") {
		t.Errorf("%d calls hold %d messages, the last has %d", len(all), held, last.Len())
	}
}
