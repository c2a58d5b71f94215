package remote

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

func TestFrames(t *testing.T) {
	var all []byte
	bodies := [][]byte{nil, []byte("x"), bytes.Repeat([]byte("y"), maxData), bytes.Repeat([]byte("z"), maxFrame-frameHead), []byte("short")}
	kinds := []kind{kindBeat, kindData, kindCaptured, kindRun, kindData}
	for i, body := range bodies {
		all = appendFrame(all, kinds[i], uint32(i)<<20, body)
	}
	for name, from := range map[string]io.Reader{
		"whole": bytes.NewReader(all), "in halves": iotest.HalfReader(bytes.NewReader(all)), "with the end": iotest.DataErrReader(bytes.NewReader(all)),
	} {
		r := frameReader{from: from}
		for i, body := range bodies {
			f, err := r.next()
			if err != nil || f.kind != kinds[i] || f.stream != uint32(i)<<20 || !bytes.Equal(f.body, body) {
				t.Fatalf("%s: frame %d is kind %d of stream %d with %d bytes, %v", name, i, f.kind, f.stream, len(f.body), err)
			}
		}
		if _, err := r.next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: after the last frame: %v", name, err)
		}
	}
}

func TestFramesThatCannotBe(t *testing.T) {
	raw := func(length uint32, k kind, rest string) string {
		head := binary.BigEndian.AppendUint32(nil, length)
		return string(head) + string([]byte{byte(k)}) + rest
	}
	for name, tt := range map[string]struct {
		text string
		want error
	}{
		"too short":                {raw(4, kindBeat, "\x00\x00\x00\x00"), errProtocol},
		"no length":                {raw(0, kindBeat, "\x00\x00\x00\x00"), errProtocol},
		"too long":                 {raw(maxFrame+1, kindRun, "\x00\x00\x00\x01"), errProtocol},
		"as long as can be":        {raw(1<<32-1, kindRun, "\x00\x00\x00\x01"), errProtocol},
		"unknown":                  {raw(5, kinds, "\x00\x00\x00\x00"), errProtocol},
		"kind 0":                   {raw(5, 0, "\x00\x00\x00\x00"), errProtocol},
		"a beat with a body":       {raw(6, kindBeat, "\x00\x00\x00\x00x"), errProtocol},
		"data of nothing":          {raw(5, kindData, "\x00\x00\x00\x01"), errProtocol},
		"too much data":            {raw(6+maxData, kindData, "\x00\x00\x00\x01"), errProtocol},
		"a hello that is too long": {raw(6+maxMessage, kindHello, "\x00\x00\x00\x00"), errProtocol},
		"credit of three bytes":    {raw(8, kindCredit, "\x00\x00\x00\x01abc"), errProtocol},
		"cut in the head":          {raw(6, kindData, "\x00"), io.ErrUnexpectedEOF},
		"cut in the body":          {raw(9, kindData, "\x00\x00\x00\x01ab"), io.ErrUnexpectedEOF},
		"nothing of the body":      {raw(9, kindData, "\x00\x00\x00\x01"), io.ErrUnexpectedEOF},
		"nothing":                  {"", io.EOF},
	} {
		r := frameReader{from: strings.NewReader(tt.text)}
		if _, err := r.next(); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

// TestFramesTakeLittleMemory reads frames that announce a mebibyte and bring less.
func TestFramesTakeLittleMemory(t *testing.T) {
	head := binary.BigEndian.AppendUint32(nil, maxFrame)
	head = append(head, byte(kindRun), 0, 0, 0, 1)
	for _, tt := range []struct{ brought, most int }{{0, 128 << 10}, {100 << 10, 512 << 10}, {maxFrame - frameHead, 3 << 20}} {
		input := append(bytes.Clone(head), make([]byte, tt.brought)...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := frameReader{from: bytes.NewReader(input)}
		f, err := r.next()
		runtime.ReadMemStats(&after)
		if complete := tt.brought == maxFrame-frameHead; complete != (err == nil) {
			t.Errorf("%d bytes: %v", tt.brought, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(tt.most) {
			t.Errorf("%d bytes took %d in all, want at most %d", tt.brought, took, tt.most)
		}
		if held := cap(f.body); held > 2<<20 {
			t.Errorf("%d bytes hold %d", tt.brought, held)
		}
	}
}

func TestParted(t *testing.T) {
	for _, entries := range [][]string{nil, {""}, {"", ""}, {"a", "", "b\xff\n"}} {
		got, err := parted(joined(entries))
		if err != nil || len(got) != len(entries) || strings.Join(got, "|") != strings.Join(entries, "|") {
			t.Errorf("%q became %q, %v", entries, got, err)
		}
	}
	for name, text := range map[string]string{"without end": "a\x00b", "too many": strings.Repeat("\x00", maxEntries+1)} {
		if _, err := parted([]byte(text)); !errors.Is(err, errProtocol) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzFrames reads frames and gives them to both sides. Neither may crash, or hold more than it may.
func FuzzFrames(f *testing.F) {
	f.Add(appendFrame(appendFrame(nil, kindHello, 0, []byte(`{"Version":1}`)), kindRun, 1, []byte(`{"Args":"bHMA","Pipes":"cnc="}`)))
	f.Add(appendFrame(appendFrame(nil, kindData, 1, []byte("text")), kindEnd, 1, nil))
	f.Add(appendFrame(appendFrame(nil, kindCredit, 1, []byte{0, 0, 0, 9}), kindStop, 1, nil))
	f.Add(appendFrame(nil, kindAccept, ofRunner+1, []byte(`{"Command":1,"Port":3128,"From":5}`)))
	f.Add(appendFrame(appendFrame(nil, kindStarted, 1, nil), kindResult, 1, []byte(`{"Reason":"exit","Stdout":{"Head":-1}}`)))
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, side := range []func(frame) error{newTestServer(t).conn.take, newTestCommand(t).runner.conn.take} {
			r := frameReader{from: bytes.NewReader(input)}
			for {
				frame, err := r.next()
				if err != nil {
					break
				}
				if cap(frame.body) > 2<<20 {
					t.Fatalf("a frame holds %d bytes", cap(frame.body))
				}
				if side(frame) != nil {
					break
				}
			}
		}
	})
}
