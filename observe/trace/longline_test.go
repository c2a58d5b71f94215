package trace_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/cachecost/prompt/prompttest"
	"github.com/satchel-go/satchel/observe/trace"
)

// callLines is a writer that tells when it gets the line of a call.
type callLines chan struct{}

func (c callLines) Write(line []byte) (int, error) {
	if bytes.Contains(line[:min(len(line), 64)], []byte(`"event":"call"`)) {
		c <- struct{}{}
	}
	return len(line), nil
}

// BenchmarkLongLine measures how long the line of a call with 10 MiB of new text takes.
func BenchmarkLongLine(b *testing.B) {
	texts := prompttest.LongTexts(10 << 20)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		b.Run(name, func(b *testing.B) {
			lines := make(callLines)
			tr, err := trace.New(lines)
			if err != nil {
				b.Fatal(err)
			}
			defer func() {
				if err := tr.Close(); err != nil {
					b.Error(err)
				}
			}()
			for n := 3; b.Loop(); n += 3 { // a text that begins elsewhere is new
				tr.Request(b.Context(), core.ModelRequest{
					Key: core.SessionKey{Session: "s"}, ID: uint64(n), Model: "m",
					Messages: []core.Message{{Role: core.User, Text: texts[name][n:]}},
				})
				<-lines
			}
		})
	}
}
