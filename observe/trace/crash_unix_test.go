//go:build unix

package trace_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satchel-go/satchel/internal/testing/crashtest"
	"github.com/satchel-go/satchel/observe/trace"
)

func TestMain(m *testing.M) {
	crashtest.Main(m, map[string]func(string) error{"writer": writeForever, "once": writeOnce})
}

// writeForever writes calls of one session after the other, and prints the number of each that its
// trace has.
func writeForever(dir string) error {
	tr, err := trace.Open(filepath.Join(dir, "trace.jsonl"), trace.Size(50_000))
	if err != nil {
		return err
	}
	// A trace opens its vocabulary before the first call.
	before := sizeOf(dir)
	talk(tr, "first", 0, 1)
	for sizeOf(dir) < before+1000 {
		time.Sleep(time.Millisecond)
	}
	for i := 0; ; i++ {
		talk(tr, fmt.Sprint("s", i), 0, 4)
		time.Sleep(20 * time.Millisecond)
		fmt.Println(i)
	}
}

// sizeOf returns the bytes of all files in a directory.
func sizeOf(dir string) (n int64) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}

// writeOnce writes two calls into a file of its own.
func writeOnce(dir string) error {
	tr, err := trace.Open(dir + "/")
	if err != nil {
		return err
	}
	talk(tr, "a", 0, 2)
	fmt.Println("done")
	return tr.Close()
}

// A process that is killed loses at most its last lines, and the file is free for the next.
func TestKilledWriter(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "trace.jsonl")
	for round := range 3 {
		child := crashtest.Start(t, "writer", dir)
		last := ""
		child.KillWithin(t, 300*time.Millisecond, func(line string) { last = line })
		tr, err := trace.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		talk(tr, "after", 0, 1)
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(path + "*")
		if err != nil {
			t.Fatal(err)
		}
		seqs, sessions, broken := map[any]float64{}, map[any]bool{}, 0
		for _, file := range ordered(files, path) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var process any
			for l := range strings.Lines(string(text)) {
				var m map[string]any
				if json.Unmarshal([]byte(l), &m) != nil {
					broken++
					continue
				}
				if m["event"] == "trace" {
					process = m["process"]
				}
				if seqs[process]++; m["seq"] != seqs[process] {
					t.Errorf("%s: line %v of %v has seq %v", file, seqs[process], process, m["seq"])
				}
				if m["event"] == "call" {
					sessions[m["session"]] = true
				}
			}
		}
		// The child prints a number after the calls of the session. Those of the fifth before were
		// written long ago.
		if n := 0; last != "" {
			if _, err := fmt.Sscan(last, &n); err != nil || n > 5 && !sessions[fmt.Sprint("s", n-5)] {
				t.Errorf("the child has come to %q, the trace has %d sessions", last, len(sessions))
			}
		}
		if broken > round+1 || !sessions["after"] {
			t.Errorf("%d broken lines after %d kills", broken, round+1)
		}
	}
}

// ordered returns the files in the order in which they were written.
func ordered(files []string, path string) (all []string) {
	for n := 1; len(all) < len(files)-1; n++ {
		all = append(all, fmt.Sprintf("%s.%d", path, n))
	}
	return append(all, path)
}

func TestProcessesShareADirectory(t *testing.T) {
	dir := t.TempDir()
	var children []*crashtest.Child
	for range 3 {
		children = append(children, crashtest.Start(t, "once", dir))
	}
	for _, c := range children {
		if c.Lines.Scan(); c.Lines.Text() != "done" {
			t.Error("a child has printed nothing")
		}
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) != len(children) {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		if calls := checkParts(t, file); calls != 2 {
			t.Errorf("%s has %d calls", file, calls)
		}
	}
}

// Another process that writes the same file is refused, whichever file it is by then.
func TestSecondProcessIsRefused(t *testing.T) {
	dir := t.TempDir()
	child := crashtest.Start(t, "writer", dir)
	for range 20 {
		if !child.Lines.Scan() {
			t.Fatal("the child has ended")
		}
		if _, err := trace.Open(filepath.Join(dir, "trace.jsonl")); err == nil || !strings.Contains(err.Error(), "name a directory") {
			t.Fatalf("a second writer gets %v", err)
		}
	}
	child.Kill(t)
}

// fifo makes a named pipe.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A pipe gets the trace once a process reads it.
func TestPipe(t *testing.T) {
	path := fifo(t)
	tr, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	script(tr)
	read := make(chan string)
	go func() {
		f, err := os.Open(path)
		if err != nil {
			read <- err.Error()
			return
		}
		defer f.Close()
		text, _ := io.ReadAll(f)
		read <- string(text)
	}()
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	if all := lines(t, <-read); len(all) < 30 || all[len(all)-1]["event"] != "end" {
		t.Errorf("the reader got %d lines", len(all))
	}
}

// A pipe has one writer at a time.
func TestPipeHasOneWriter(t *testing.T) {
	path := fifo(t)
	reader, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for range 2 {
		tr, err := trace.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := trace.Open(path); err == nil || !strings.Contains(err.Error(), "another process writes this file: name a directory (DIR/)") {
			t.Errorf("a second writer gets %v", err)
		}
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Close waits two seconds for a pipe that no process reads, or that a process has ceased to read.
func TestPipesWithoutReaders(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		tr, err := trace.Open(fifo(t))
		if err != nil {
			t.Fatal(err)
		}
		script(tr)
		closesInTime(t, tr, "no process reads the pipe")
	})
	t.Run("one that stops", func(t *testing.T) {
		t.Parallel()
		path := fifo(t)
		f, err := os.OpenFile(path, os.O_RDWR, 0) // does not wait for a writer
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		tr, err := trace.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		talk(tr, "a", 0, 300)
		if first, err := bufio.NewReader(f).ReadString('\n'); err != nil || !strings.Contains(first, `"event":"trace"`) {
			t.Errorf("%q, %v", first, err)
		}
		closesInTime(t, tr, "a write does not return")
	})
	t.Run("one that ends", func(t *testing.T) {
		t.Parallel()
		path := fifo(t)
		tr, err := trace.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		script(tr)
		closesInTime(t, tr, syscall.EPIPE.Error())
	})
}

func closesInTime(t *testing.T, tr *trace.Trace, reason string) {
	t.Helper()
	began := time.Now()
	err := tr.Close()
	if took := time.Since(began); took > 3*time.Second { // two, and what the machine is busy with
		t.Errorf("Close took %v", took)
	}
	if err == nil || !strings.Contains(err.Error(), reason) || tr.Dropped() == 0 {
		t.Errorf("%v, %d dropped, want %q", err, tr.Dropped(), reason)
	}
}

func TestDevice(t *testing.T) {
	tr, err := trace.Open(os.DevNull, trace.Size(1))
	if err != nil {
		t.Fatal(err)
	}
	script(tr)
	if err := errors.Join(tr.Close()); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode()&os.ModeDevice == 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
