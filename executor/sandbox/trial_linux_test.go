//go:build amd64 || arm64

package sandbox

import "testing"

// A Sandbox like an earlier one of this process is opened without starting anything.
func TestOpenedAgain(t *testing.T) {
	for again := range 2 {
		s, err := New()
		must(t, err)
		nothing := false
		s.nursery.begin.Do(func() { nothing = true; close(s.nursery.ended) })
		if again == 1 && !nothing {
			t.Error("a process was started")
		}
		must(t, s.Close())
	}
}
