package trace_test

import (
	"bytes"
	stdcontext "context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/observe/trace"
)

// withFile returns a request whose second message has a file.
func withFile(id uint64, f core.File) core.ModelRequest {
	q := first()
	q.ID, f.Origin = id, 1
	q.Files = []core.File{f}
	return q
}

func picture(address string) core.File {
	f := core.File{MIME: "image/*"}
	f.SetURL(address)
	return f
}

// A trace has the kinds and digests of pictures, and no more of them. Another picture is another message, and
// breaks the prefix.
func TestMedia(t *testing.T) {
	const address = "https://example.com/a.png"
	for texts, want := range map[trace.TextPolicy]int{trace.Whole: 3, trace.Digests: 3, trace.None: 0} {
		var out bytes.Buffer
		tr, err := trace.New(&out, trace.Texts(texts))
		if err != nil {
			t.Fatal(err)
		}
		broken := core.File{MIME: "application/pdf"}
		broken.SetBase64("*")
		for i, f := range []core.File{picture(address), picture(address), picture("data:image/png;base64,AAAA"), broken} {
			q := withFile(uint64(i+1), f)
			tr.Request(stdcontext.Background(), q)
			tr.Answer(stdcontext.Background(), core.ModelAnswer{ID: q.ID, Key: q.Key, Text: "A cat."})
		}
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
		if text := out.String(); strings.Contains(text, "example.com") || strings.Contains(text, "AAAA") {
			t.Errorf("%s: the trace has the picture", texts)
		}
		var kinds, digests []string
		var sums []float64
		breaks := 0
		for _, l := range lines(t, out.String()) {
			switch l["event"] {
			case "message":
				raw, err := json.Marshal(l["message"])
				if err != nil {
					t.Fatal(err)
				}
				var value struct {
					Media []struct{ Kind, Digest string }
				}
				if err := json.Unmarshal(raw, &value); err != nil {
					t.Fatal(err)
				}
				for _, m := range value.Media {
					kinds, digests = append(kinds, m.Kind), append(digests, m.Digest)
				}
			case "call":
				sum := 0.0
				for _, n := range l["parts"].(map[string]any) {
					sum += n.(float64)
				}
				sums = append(sums, sum)
			case "break":
				if breaks++; l["message"] != 1.0 {
					t.Errorf("%s: %v, want message 1", texts, l)
				}
			}
		}
		if len(digests) != want || want > 0 && (!reflect.DeepEqual(kinds, []string{"image", "image", "file"}) || digests[0] == digests[1] || digests[1] == digests[2]) {
			t.Errorf("%s: the messages have %v %v, want %d media", texts, kinds, digests, want)
		}
		if len(sums) != 4 || sums[0] < 765 || sums[0] != sums[1] || sums[0] != sums[2] || sums[0] != sums[3] || breaks != 2 {
			t.Errorf("%s: the calls have %v tokens and %d breaks, want the same four times and two breaks", texts, sums, breaks)
		}
	}
}
