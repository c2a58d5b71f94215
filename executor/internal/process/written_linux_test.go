package process

import (
	"os"
	"testing"
)

func TestWrittenBy(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	must(t, err)
	defer f.Close()
	if _, err = f.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		pids    []int
		atLeast int64
	}{
		{"nobody", nil, 0},
		{"somebody who is gone", []int{1 << 30}, 0},
		{"this process", []int{os.Getpid(), 1 << 30}, 1 << 20},
	} {
		got, known := writtenBy(tt.pids)
		if !known || got < tt.atLeast || tt.atLeast == 0 && got != 0 {
			t.Errorf("%s: %d bytes, known %v, want %d", tt.name, got, known, tt.atLeast)
		}
	}
}
