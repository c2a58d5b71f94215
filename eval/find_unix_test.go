//go:build unix

package eval

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Nothing is read of a pipe or a directory, and nothing waits for a writer.
func TestReadFileReadsRegularFiles(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "suite.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	c := testCatalog(t, office, nil)
	for file, want := range map[string]string{pipe: pipe + ": is a named pipe: want a regular file", t.TempDir(): ": is a directory: want", "/dev/zero": "/dev/zero: is a device: want"} {
		done := make(chan error, 1)
		go func() {
			_, err := ReadFile(file, c)
			done <- err
		}()
		select {
		case err := <-done:
			if !errors.Is(err, ErrSuite) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q", file, err, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: ReadFile waits", file)
		}
	}
	suite, err := Read(strings.NewReader("skill_name: pdf\nqueries: [{query: q, should_trigger: true}]"), "standard input", c)
	if err != nil || len(suite.Queries) != 1 || suite.Queries[0].From != "standard input: queries[0]" {
		t.Errorf("%+v, %v", suite, err)
	}
	if _, err := Read(strings.NewReader(""), "standard input", c); err == nil || !strings.Contains(err.Error(), "standard input: is empty") {
		t.Errorf("error %v", err)
	}
}
