package artifacts

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestMemoryBound(t *testing.T) {
	const room = 4 * versionCost
	m := &Memory{MaxBytes: room}
	put := func(session, name string, size int) error {
		_, err := m.Save(t.Context(), session, name, "", strings.NewReader(strings.Repeat("x", size)), room*2)
		return err
	}
	if err := put("s", "a", room+1); !errors.Is(err, ErrFull) {
		t.Errorf("content beyond the bound: %v", err)
	}
	if err := put("s", "a", room-versionCost-1); err != nil {
		t.Errorf("what just fits: %v", err)
	}
	for _, size := range []int{0, 1} {
		if err := put("other", "b", size); !errors.Is(err, ErrFull) {
			t.Errorf("%d bytes in a full store: %v", size, err)
		}
	}
	if err := m.End(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; put("s", fmt.Sprintf("%03d", n), 0) == nil; n++ {
	}
	if n != 3 {
		t.Errorf("%d empty artifacts fit, want 3", n)
	}
	if err := m.End(t.Context(), "s"); err != nil || m.used != 0 || len(m.sessions) != 0 {
		t.Errorf("after the end: %d bytes used, %d sessions, %v", m.used, len(m.sessions), err)
	}
}

func TestMemoryFailuresLeaveNothing(t *testing.T) {
	m := NewMemory()
	for i := range 10 {
		if _, err := m.Save(t.Context(), fmt.Sprint(i), "a", "", strings.NewReader("too much"), 3); !errors.Is(err, ErrTooLarge) {
			t.Fatal(err)
		}
	}
	if m.used != 0 || len(m.sessions) != 0 {
		t.Errorf("%d bytes used, %d sessions", m.used, len(m.sessions))
	}
}

func TestMemoryUnbounded(t *testing.T) {
	m := new(Memory)
	if _, err := m.Save(t.Context(), "s", "a", "", strings.NewReader("x"), 1); err != nil {
		t.Error(err)
	}
}
