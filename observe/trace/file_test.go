package trace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Where an open file cannot be replaced, it is closed and renamed, and no line is lost.
func TestFilesThatMoveAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	o, err := openFile(path, 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	write := func(text string) {
		t.Helper()
		if _, err := o.write(context.Background(), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"first\n", "second\n"} {
		write(text)
		if err := o.moveAway(); err != nil || o.size != 0 || o.limit != 10 {
			t.Fatalf("size %d, limit %d, %v", o.size, o.limit, err)
		}
	}
	write("third\n")
	for name, want := range map[string]string{path + ".1": "first\n", path + ".2": "second\n", path: "third\n"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	if err := errors.Join(o.f.Close(), os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	if err := o.moveAway(); err == nil {
		t.Error("a file that is gone moves away")
	}
	write("fourth\n")
	if got, err := os.ReadFile(path); err != nil || string(got) != "fourth\n" {
		t.Errorf("after that the file holds %q, %v", got, err)
	}
}

// The file of a trace has one writer, on each system that has locks.
func TestFilesHaveOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	o, err := openFile(path, 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := openFile(path, 10, 0); err == nil {
		t.Errorf("a second writer has opened %s", second.path)
	}
	if err := o.close(); err != nil {
		t.Fatal(err)
	}
	o, err = openFile(path, 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.close(); err != nil {
		t.Fatal(err)
	}
}
