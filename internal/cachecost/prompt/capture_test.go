package prompt

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// random makes a capture in which texts, tools and messages repeat.
func random(r *rand.Rand) *Capture {
	text := func() string { return strings.Repeat("<é&> ", r.IntN(4)) }
	c := &Capture{Scenario: "s", System: "sys", Variant: "turn/tool-result"}
	var history []Message
	for turn := range 1 + r.IntN(3) {
		for range 1 + r.IntN(3) {
			m := Message{Role: []string{"system", "user", "assistant", "tool"}[r.IntN(4)], Content: text()}
			if m.Role == "assistant" {
				m.Calls = []Call{{ID: text(), Name: "f", Arguments: `{"a":"<b>"}`}}
			}
			if m.Role == "user" && r.IntN(2) == 0 {
				m.Media = []Media{{Kind: "image", Digest: text()}}
			}
			if m.Role == "tool" {
				m.CallID, m.Name = "1", "f"
			}
			history = append(history, m)
			tools := []Tool{{Name: "f", Description: text(), Parameters: json.RawMessage(`{"type":"object"}`)}}
			c.Requests = append(c.Requests, Request{Turn: turn, Tools: tools[:r.IntN(2)], Messages: append([]Message{}, history...)})
		}
	}
	return c
}

func TestWrittenCapturesReadTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var all bytes.Buffer
	var want []*Capture
	for range 50 {
		c := random(r)
		var first, second bytes.Buffer
		if err := errors.Join(c.Write(&first), c.Write(&second), c.Write(&all)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatal("one capture was written in two ways")
		}
		want = append(want, c)
	}
	got, err := Read(&all)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("read\n%+v\nwrote\n%+v", got[i], want[i])
		}
	}
}

func TestTablesHoldEachThingOnce(t *testing.T) {
	m := Message{Role: "user", Content: "hi"}
	c := &Capture{Scenario: "s", System: "x", Requests: []Request{{Messages: []Message{m}}, {Messages: []Message{m, m}}}}
	var b bytes.Buffer
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	want := `{"scenario":"s","system":"x","variant":"","texts":["hi"],"toolsets":[[]],"messages":[{"role":"user","content":0}],"requests":[{"turn":0,"tools":0,"messages":[0]},{"turn":0,"tools":0,"messages":[0,0]}]}` + "\n"
	if b.String() != want {
		t.Errorf("wrote %s want %s", b.String(), want)
	}
}

func TestReadErrors(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":      "",
		"no JSON":      "{",
		"another type": "[]",
		"no requests":  `{"scenario":"s"}`,
		"text":         `{"texts":[],"messages":[{"role":"user","content":0}],"requests":[{"messages":[0]}]}`,
		"message":      `{"requests":[{"messages":[7]}]}`,
		"toolset":      `{"toolsets":[[]],"requests":[{"tools":1}]}`,
		"tool":         `{"toolsets":[{}],"requests":[{"tools":0}]}`,
		"the second":   `{"requests":[{}]} {`,
	} {
		if got, err := Read(strings.NewReader(text)); !errors.Is(err, ErrCapture) || got != nil {
			t.Errorf("%s: %v, %v, want ErrCapture", name, got, err)
		}
	}
}

func TestReadDir(t *testing.T) {
	dir := t.TempDir()
	c := random(rand.New(rand.NewPCG(2, 2)))
	c.Variant = "v0.7+x y/tool-result"
	written, err := c.WriteFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, "sys", "s.v0.7+xy.toolresult.json"); written != want {
		t.Errorf("written to %s, want %s", written, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("no capture"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ReadDir(dir)
	if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], c) {
		t.Errorf("%d captures, %v", len(got), err)
	}
	if _, err := ReadDir(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that is not there: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadDir(dir); !errors.Is(err, ErrCapture) || !strings.Contains(err.Error(), "b.json") {
		t.Errorf("error %v, want one that names the file", err)
	}
}

func TestWriteFileStaysInItsDirectory(t *testing.T) {
	for _, c := range []Capture{{Scenario: "../x", System: "s"}, {Scenario: "x", System: ".."}, {Scenario: "", System: "s"}, {Scenario: "a/b", System: "s"}} {
		if _, err := c.WriteFile(t.TempDir()); err == nil {
			t.Errorf("%+v was written", c)
		}
	}
}

// FuzzRead checks that whatever is read can be written and read again.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"scenario":"s","system":"x","variant":"v","texts":["a"],"toolsets":[[{"name":"f","description":"d","parameters":{}}]],"messages":[{"role":"user","content":0}],"requests":[{"turn":0,"tools":0,"messages":[0]}]}`))
	f.Add([]byte(`{"requests":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := Read(bytes.NewReader(data))
		if err != nil {
			if !errors.Is(err, ErrCapture) {
				t.Fatal(err)
			}
			return
		}
		for _, c := range all {
			var b, again bytes.Buffer
			if err := c.Write(&b); err != nil {
				t.Fatal(err)
			}
			second, err := Read(bytes.NewReader(b.Bytes()))
			if err != nil || len(second) != 1 {
				t.Fatalf("%s: %v", b.String(), err)
			}
			if err := second[0].Write(&again); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
				t.Fatalf("%s\nbecame\n%s, %v", b.String(), again.String(), err)
			}
		}
	})
}
