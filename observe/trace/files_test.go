package trace_test

import (
	stdcontext "context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/observe/trace"
)

// talk reports the calls of a conversation that grows by a question and an answer with each.
func talk(t *trace.Trace, session string, from, to int) {
	key := core.SessionKey{Session: session}
	messages := []core.Message{message(core.System, "You help with "+session+".")}
	for i := range to {
		messages = append(messages, message(core.User, fmt.Sprintf("Question %d of %s: %s", i, session, strings.Repeat("why? ", 20))))
		if i >= from {
			t.Request(stdcontext.Background(), core.ModelRequest{
				ID: uint64(i + 1), Key: key, Tools: tools, Messages: slices.Clone(messages), View: core.ViewTrace{Turn: i + 1, Prompt: fmt.Sprint("Question ", i)},
			})
			t.Answer(stdcontext.Background(), core.ModelAnswer{ID: uint64(i + 1), Key: key, Text: fmt.Sprint("Answer ", i)})
		}
		messages = append(messages, message(core.Assistant, fmt.Sprint("Answer ", i)))
	}
}

// checkParts checks that each file can be read without the others, and returns the calls of all.
func checkParts(t *testing.T, files ...string) (calls int) {
	t.Helper()
	seq := 0.0
	for part, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		known, last := map[string]bool{}, map[string][]string{}
		for i, l := range lines(t, string(text)) {
			if seq++; l["seq"] != seq {
				t.Fatalf("%s: line %d has seq %v, want %v", file, i+1, l["seq"], seq)
			}
			switch l["event"] {
			case "trace":
				if i > 0 || l["part"] != float64(part+1) {
					t.Errorf("%s: line %d is of part %v", file, i+1, l["part"])
				}
			case "message", "tools":
				if digest := l["digest"].(string); known[digest] {
					t.Errorf("%s has %s twice", file, digest)
				}
				known[l["digest"].(string)] = true
			case "call":
				session := l["session"].(string)
				digests := last[session][:int(l["keep"].(float64))]
				for _, d := range l["add"].([]any) {
					digests = append(digests, d.(string))
				}
				if last[session] == nil && l["keep"] != 0.0 {
					t.Errorf("%s: its first call keeps %v", file, l["keep"])
				}
				for _, d := range append(digests, l["tools"].(string)) {
					if !known[d] {
						t.Errorf("%s lacks %s of call %v", file, d, l["call"])
					}
				}
				last[session] = slices.Clone(digests)
				calls++
			}
		}
	}
	return calls
}

func TestFullFilesAreReplaced(t *testing.T) {
	for _, size := range []int64{1, 300, 1000, 5000, 20_000} {
		path := filepath.Join(t.TempDir(), "trace.jsonl")
		tr, err := trace.Open(path, trace.Size(size))
		if err != nil {
			t.Fatal(err)
		}
		talk(tr, "a", 0, 28)
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
		var files []string
		for n := 1; ; n++ {
			file := fmt.Sprintf("%s.%d", path, n)
			if _, err := os.Stat(file); err != nil {
				break
			}
			files = append(files, file)
			text, _ := os.ReadFile(file)
			rest := strings.TrimSuffix(string(text), "\n")
			last := len(text) - strings.LastIndexByte(rest, '\n') - 1
			// Only a file that cannot hold one call goes on behind its size.
			if int64(len(text)) < size || size >= 20_000 && int64(len(text)-last) >= size {
				t.Errorf("size %d: %s has %d bytes, the last line %d", size, filepath.Base(file), len(text), last)
			}
		}
		if calls := checkParts(t, append(files, path)...); calls != 28 || len(files) < 2 {
			t.Errorf("size %d: %d calls in %d files", size, calls, len(files)+1)
		}
		entries, _ := os.ReadDir(filepath.Dir(path))
		if len(entries) != len(files)+1 {
			t.Errorf("size %d: %d files, want %d", size, len(entries), len(files)+1)
		}
		for _, e := range entries {
			if info, err := e.Info(); err != nil || info.Mode() != 0o600 {
				t.Errorf("%s has mode %v, %v", e.Name(), info.Mode(), err)
			}
		}
	}
}

// A file goes on behind what an earlier process has left, also behind half a line.
func TestFilesAreAppendedTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	const old = `{"v":1,"event":"end"}` + "\n" + `{"v":1,"eve`
	if err := os.WriteFile(path, []byte(old), 0o644); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	talk(tr, "a", 0, 1)
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(path)
	rest, ok := strings.CutPrefix(string(text), old+"\n")
	if all := lines(t, rest); !ok || all[0]["event"] != "trace" || all[0]["seq"] != 1.0 {
		t.Errorf("the file is %s", text)
	}
	if info, _ := os.Stat(path); info.Mode() != 0o600 {
		t.Errorf("the file has mode %v", info.Mode())
	}
	// Numbers of full files go on too.
	if err := os.WriteFile(path+".7", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if tr, err = trace.Open(path, trace.Size(10)); err != nil {
		t.Fatal(err)
	}
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	if moved, err := os.ReadFile(path + ".8"); err != nil || string(moved) != string(text) {
		t.Errorf("the full file is %q, %v", moved, err)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	busy := filepath.Join(dir, "busy.jsonl")
	first, err := trace.Open(busy)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	for name, tt := range map[string]struct {
		path string
		opts []trace.Option
		want string
	}{
		"a second writer": {busy, nil, "another process writes this file: name a directory (DIR/,"},
		"no directory":    {filepath.Join(dir, "a", "b"), nil, "no such file or directory"},
		"no path":         {"", nil, "the path is empty"},
		"a size":          {filepath.Join(dir, "c"), []trace.Option{trace.Size(0)}, "size 0"},
		"texts":           {filepath.Join(dir, "c"), []trace.Option{trace.Texts("all")}, `texts "all"`},
		"redact":          {filepath.Join(dir, "c"), []trace.Option{trace.Redact(nil)}, "function is nil"},
	} {
		if _, err := trace.Open(tt.path, tt.opts...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	if _, err := trace.New(nil); err == nil {
		t.Error("a nil writer is accepted")
	}
	if _, err := os.Stat(filepath.Join(dir, "c")); err == nil {
		t.Error("an error has made a file")
	}
	// Once the first has ended, the file is free, also after it was replaced.
	talk(first, "a", 0, 1)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := trace.Open(busy, trace.Size(10))
	if err != nil {
		t.Fatal(err)
	}
	talk(second, "a", 0, 3)
	if _, err := trace.Open(busy); err == nil {
		t.Error("a file that was replaced has a second writer")
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "traces") + string(filepath.Separator)
	var all []*trace.Trace
	for range 3 {
		tr, err := trace.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tr)
	}
	for _, tr := range all {
		talk(tr, "a", 0, 2)
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(all) {
		t.Fatalf("%d files, %v", len(entries), err)
	}
	processes := map[any]bool{}
	for _, e := range entries {
		text, _ := os.ReadFile(filepath.Join(dir, e.Name()))
		processes[lines(t, string(text))[0]["process"]] = true
		if checkParts(t, filepath.Join(dir, e.Name())) != 2 {
			t.Errorf("%s has other calls", e.Name())
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode() != fs.ModeDir|0o700 || len(processes) != len(all) {
		t.Errorf("%v, %v, processes %v", info.Mode(), err, processes)
	}
}
