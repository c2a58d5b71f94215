package measure

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

func exchange(number int, texts ...string) Exchange {
	e := Exchange{Request: satcheltest.Request{Number: number, Messages: []satcheltest.Message{{Role: "system", Text: "You help."}}}}
	for _, text := range texts {
		e.Request.Messages = append(e.Request.Messages, satcheltest.Message{Role: "user", Text: text})
	}
	e.Response = satcheltest.Response{Text: "ok"}
	return e
}

const loaded = "stub\n\n<skill name=\"pdf\">\nBODY\n</skill>\n<skill_doc skill=\"pdf\" path=\"a/b.md\">\nDOC\n</skill_doc>"

func TestSum(t *testing.T) {
	failed := exchange(3, "c")
	failed.Response = satcheltest.Response{Status: 500, Err: "no"}
	got := Sum([]Exchange{exchange(1, "a"), exchange(2, "a", loaded), failed})
	if got.Calls != 3 || !reflect.DeepEqual(got.Loaded, []string{"pdf", "pdf/a/b.md"}) {
		t.Errorf("totals = %+v", got)
	}
	// "system \nYou help.\nuser \n" has 25 bytes. With "a" and its line end it has 27.
	if got.Repeated != 27/4+25/4 {
		t.Errorf("repeated = %d", got.Repeated)
	}
}

func TestDiffer(t *testing.T) {
	a := []Exchange{exchange(1, "a"), exchange(2, "a", "b")}
	tests := map[string]struct {
		b    []Exchange
		want int
	}{
		"same":    {[]Exchange{exchange(1, "a"), exchange(2, "a", "b")}, 0},
		"text":    {[]Exchange{exchange(1, "a"), exchange(2, "a", "c")}, 2},
		"shorter": {a[:1], 2},
		"none":    {nil, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Differ(a, test.b); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
			if got := Differ(test.b, a); got != test.want {
				t.Errorf("the other way round: got %d, want %d", got, test.want)
			}
		})
	}
}

func TestPrinter(t *testing.T) {
	changed := exchange(3, "a", loaded, "one\n\ntwo\nthree\nfour\nfive")
	changed.Request.Messages[0].Text = "You help now."
	changed.Request.Messages = append(changed.Request.Messages, satcheltest.Message{
		Role: "assistant", Calls: []core.ToolCall{{ID: "1", Name: "x", Arguments: "{}"}},
	})
	changed.Response = satcheltest.Response{Status: 422, Err: "lost"}
	called := exchange(2, "a", loaded)
	called.Request.Tools = []core.Tool{{Name: "x"}, {Name: "y"}}
	called.Response = satcheltest.Response{Calls: []core.ToolCall{satcheltest.ToolCall("x", "{}")}}
	exchanges := []Exchange{exchange(1, "a"), called, changed}

	var plain, coloured bytes.Buffer
	Printer{Out: &plain}.Framework("test", exchanges)
	want := `
== test
#1 turn 1, ~6 tokens, 0% a repeated prefix, no tools
  + system     You help.
  + user       a
  > answers "ok"
#2 turn 2, ~36 tokens, 0% a repeated prefix, 2 tools: x y
  = 2 messages as before
  + user       stub
               [text of pdf, 4 bytes, in the user message]
               [text of pdf/a/b.md, 3 bytes, in the user message]
  > calls x {}
#3 turn 3, ~46 tokens, 0% a repeated prefix, no tools
  ~ system     You help now.
  = 2 messages as before
  + user       one
               two
               three
               (2 more lines)
  + assistant  calls x {}
  > HTTP 422: lost
`
	if plain.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", plain.String(), want)
	}
	Printer{Out: &coloured, Colour: true}.Framework("test", exchanges)
	if !strings.Contains(coloured.String(), "\x1b[32m+\x1b[0m") {
		t.Errorf("no colours: %q", coloured.String())
	}
}

func TestPrinterShowsRuns(t *testing.T) {
	var out bytes.Buffer
	p := Printer{Out: &out, Names: strings.NewReplacer("/tmp/x1", "/logs")}
	p.message("+", satcheltest.Message{Role: "tool", Text: `{"output_files":[{"name":"out/a.tsv","ref":"workspace://out/a.tsv","content":"1\t2\n","mime_type":"text/tab-separated-values","size_bytes":4}],"stdout":"of /tmp/x1\n","stderr":"no\n","exit_code":3,"timed_out":false}`})
	want := `  + tool       exit code 3, 1 file collected
               stdout: of /logs
               stderr: no
               [file out/a.tsv, text/tab-separated-values, 4 bytes]
                 1  2
`
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
	for _, text := range []string{"", "loaded: pdf", `{"output_files"`, `{"a":1}`, `["x"]`} {
		if lines, ok := p.result(text); ok {
			t.Errorf("%s is shown as a run: %q", text, lines)
		}
	}
}

func TestCut(t *testing.T) {
	for text, want := range map[string]string{"技能技能": "技能技能", "技能技能x": "技能技…"} {
		if got := cut(text, 4); got != want {
			t.Errorf("cut(%q) = %q, want %q", text, got, want)
		}
	}
}

// The story loads two skills and one doc, and notices when one is lost.
func TestScriptNoticesLoss(t *testing.T) {
	request := satcheltest.Request{Messages: []satcheltest.Message{
		{Role: "user", Text: Prompts()[0]},
		{Role: "assistant", Calls: []core.ToolCall{{Name: "skill_load"}}},
		{Role: "tool", Text: "loaded: release-notes"},
	}}
	if got := Script("host:///logs/night.log")(request); got.Status != 422 || !strings.Contains(got.Err, "lacks") || !strings.Contains(got.Err, "release-notes") {
		t.Errorf("response = %+v", got)
	}
}
