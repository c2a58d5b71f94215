package skilltools

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/text/plainjson"
)

// No answer, encoded in JSON, is longer than the host allows.
func TestAnswersAreBounded(t *testing.T) {
	files := library()
	for i := range 600 {
		files[fmt.Sprintf("pdf/docs/%s %04d.md", strings.Repeat("long ", 20), i)] = "x"
	}
	control := strings.Repeat("\x01", 100<<10)
	files["pdf/control.txt"] = control
	files["pdf/lines.txt"] = strings.Repeat(strings.Repeat("\x01", 99)+"\n", 2000)
	d := newHarness(t, files)
	for _, limit := range []int{0, 8 << 10} {
		d.Scope.Limits.Answer = limit
		most := d.Scope.Limits.OrDefaults().Answer
		for _, call := range [][2]string{
			{"skill_load", `{"skill":"pdf","include_all_docs":true}`}, {"skill_list_docs", "pdf"},
			{"skill_read", "control.txt"}, {"skill_read", "lines.txt"}, {"skill_read", strings.Repeat("\x01", 9000)},
			{"skill_select_docs", `{"skill":"pdf","include_all_docs":true}`}, {"skill_unload", `{"all":true}`}, {"skill_load", "pdf"},
		} {
			answer := d.call(call[0], call[1])
			size := plainjson.Size(answer)
			if isJSON(answer) {
				size = len(answer)
			}
			if size > most {
				t.Errorf("%s %.40s: %d bytes in JSON, at most %d are allowed: %.200s", call[0], call[1], size, most, answer)
			}
		}
	}
}

// If an answer of skill_list_docs, or of skill_read for a binary file, is too
// long, several calls can read all of it.
func TestCursors(t *testing.T) {
	files := library()
	const docs = 900
	for i := range docs {
		files[fmt.Sprintf("csv/docs/%s%04d.md", strings.Repeat("d", 100), i)] = "x"
	}
	data := []byte(strings.Repeat("0123456789\x00", 20_000))
	files["csv/data.bin"] = string(data)
	d := newHarness(t, files)
	d.call("skill_load", "csv")
	seen, next := 0, 0
	for pages := 0; pages == 0 || next > 0; pages++ {
		answer := d.call("skill_list_docs", fmt.Sprintf(`{"skill":"csv","offset":%d}`, next))
		var page struct {
			Docs []string
			Next int `json:"next_offset"`
		}
		if strings.HasPrefix(answer, "[") {
			page.Next = 0
			if err := json.Unmarshal([]byte(answer), &page.Docs); err != nil {
				t.Fatal(err)
			}
		} else if err := json.Unmarshal([]byte(answer), &page); err != nil || page.Next <= next {
			t.Fatal(err, answer)
		}
		seen, next = seen+len(page.Docs), page.Next
	}
	if seen != docs {
		t.Errorf("%d docs, want %d", seen, docs)
	}
	var got []byte
	for next = 0; next == 0 || next > len(got)-1 && next < len(data); {
		var page struct {
			Base64 string
			Next   int `json:"next_offset"`
		}
		if err := json.Unmarshal([]byte(d.call("skill_read", fmt.Sprintf(`{"path":"data.bin","offset":%d}`, next))), &page); err != nil {
			t.Fatal(err)
		}
		part, err := base64.StdEncoding.DecodeString(page.Base64)
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, part...); page.Next == 0 {
			break
		}
		next = page.Next
	}
	if string(got) != string(data) {
		t.Errorf("%d bytes, want %d", len(got), len(data))
	}
}
