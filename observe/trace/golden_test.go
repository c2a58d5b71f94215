package trace_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/testing/goldentest"
	"github.com/satchel-go/satchel/observe/trace"
)

var process = regexp.MustCompile(`"version":"[^"]+","process":"[0-9a-f-]+"`)

// TestGolden compares the traces of one conversation under several options with a golden file.
func TestGolden(t *testing.T) {
	const file = "testdata/lines.txtar"
	var got []goldentest.Section
	for _, tt := range []struct {
		name string
		opts []trace.Option
	}{
		{"whole", nil},
		{"digests", []trace.Option{trace.Texts(trace.Digests)}},
		{"none", []trace.Option{trace.Texts(trace.None)}},
		{"redacted", []trace.Option{trace.Redact(func(s string) string { return strings.ReplaceAll(s, "door", "[redacted]") })}},
	} {
		text := process.ReplaceAllString(strings.TrimSuffix(record(t, tt.opts...), "\n"), `"version":"V","process":"P"`)
		got = append(got, goldentest.Section{Head: tt.name, Text: text})
	}
	const about = "The traces of one conversation, by options. go test -run TestGolden -update writes them.\n"
	if *goldentest.Update {
		goldentest.Write(t, file, about, got)
	}
	_, want := goldentest.Read(t, file)
	if len(want) != len(got) {
		t.Fatalf("%d sections, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s: the trace is\n%s\nwant\n%s", got[i].Head, got[i].Text, want[i].Text)
		}
	}
}
