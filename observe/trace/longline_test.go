package trace_test

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
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

// longTexts are texts of some bytes that take long to count.
var longTexts = []struct {
	name string
	make func(r *rand.Rand, n int) string
}{
	{"base64", func(r *rand.Rand, n int) string {
		data := make([]byte, n*3/4)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		return base64.StdEncoding.EncodeToString(data)
	}},
	{"word", func(r *rand.Rand, n int) string { return letters(r, n) }},
	{"words", func(r *rand.Rand, n int) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString(letters(r, 2+r.IntN(8)))
			b.WriteByte(' ')
		}
		return b.String()
	}},
	{"chinese", func(r *rand.Rand, n int) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteRune(0x4e00 + r.Int32N(0x5000))
		}
		return b.String()
	}},
}

func letters(r *rand.Rand, n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = 'a' + byte(r.IntN(26))
	}
	return string(text)
}

// BenchmarkLongLine measures how long the line of a call with 10 MiB of new text takes.
func BenchmarkLongLine(b *testing.B) {
	for _, tt := range longTexts {
		b.Run(tt.name, func(b *testing.B) {
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
			r, id := rand.New(rand.NewPCG(1, 2)), uint64(0)
			for b.Loop() {
				b.StopTimer()
				text := tt.make(r, 10<<20)
				id++
				b.StartTimer()
				tr.Request(b.Context(), core.ModelRequest{
					Key: core.SessionKey{Session: "s"}, ID: id, Model: "m",
					Messages: []core.Message{{Role: core.User, Text: text}},
				})
				<-lines
			}
		})
	}
}
