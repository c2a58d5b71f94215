package run

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/text/redact"
	"github.com/satchel-go/satchel/protocol/blobs"
)

// FuzzChannel sends any bytes as a program could. Each answer must be a line of JSON, and a line that
// is no call must end the program.
func FuzzChannel(f *testing.F) {
	for _, text := range []string{
		`{"id":1,"method":"run.job"}`, `{"id":1,"method":"run.done","params":{"result":{}}}`, `{"id":2,"method":"run.done","params":{"error":{"type":"E","message":"m"}}}`,
		`{"id":"a","method":"run.summary","params":{"text":"x"}}`, `{"id":1,"method":"blobs.create","params":{"content":"x","kind":"text/plain"}}`,
		`{"id":1,"method":"blobs.read","params":{"blob_id":"blob:x","offset":-1}}`, `{"id":1,"method":"blobs.list"}`, `{"id":1}`, `[`, `{"id":null,"method":"x"}`,
	} {
		f.Add([]byte(text + "\n"))
	}
	places, err := workspace.Open(f.Context(), f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = places.Close() })
	ws, err := places.Of(context.Background(), "run/acme/run_1")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(ws.Release)
	f.Fuzz(func(t *testing.T, calls []byte) {
		stopped := 0
		c := &channel{
			ctx: t.Context(), tenant: "acme", store: blobs.NewMemory(blobs.Quota{}), expiry: time.Hour, job: map[string]any{"language": "python"},
			ws: ws, report: func(string) {}, hidden: redact.NewSet([]Hidden(nil)), stop: func() { stopped++ },
		}
		var answers bytes.Buffer
		c.serve(bytes.NewReader(calls), &answers)
		for line := range bytes.Lines(answers.Bytes()) {
			if !json.Valid(line) {
				t.Errorf("%q is answered by %q", calls, line)
			}
		}
		if c.violation != nil && stopped == 0 {
			t.Errorf("%q breaks the channel, and the program goes on", calls)
		}
	})
}
