package cli

import (
	"bytes"
	"testing"
	"time"
)

// Work that is done at once leaves no progress behind, also where it is late.
func TestProgressOfShortWorkIsNotShown(t *testing.T) {
	var errs bytes.Buffer
	p := Progress{Console: Console{Err: &errs, Attended: true, delay: time.Hour}}
	p.At("reading %d", 1)
	p.At("reading %d", 2)
	p.Done()
	if errs.Len() > 0 || p.timer != nil {
		t.Errorf("printed %q", errs.String())
	}
}
