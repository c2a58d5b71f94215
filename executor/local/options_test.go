package local

import (
	"errors"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor/internal/process"
)

func TestOptions(t *testing.T) {
	for _, d := range []time.Duration{-1, process.MaxGrace + 1} {
		if _, err := New(WithGrace(d)); !errors.Is(err, process.ErrOption) {
			t.Errorf("grace %v: %v", d, err)
		}
	}
	for _, dir := range []string{"opt", "/opt/../etc", "/no/such/directory", ""} {
		if _, err := New(WithReadable(dir)); !errors.Is(err, process.ErrOption) {
			t.Errorf("readable %q: %v", dir, err)
		}
	}
	dir := t.TempDir()
	if l, err := New(WithReadable(dir)); err != nil || len(l.Capabilities().Readable) != 1 {
		t.Errorf("readable %q: %+v, %v", dir, l, err)
	}
	for _, d := range []time.Duration{0, time.Second, process.MaxGrace} {
		if l, err := New(WithGrace(d)); err != nil || l.grace != d {
			t.Errorf("grace %v: %+v, %v", d, l, err)
		}
	}
}
