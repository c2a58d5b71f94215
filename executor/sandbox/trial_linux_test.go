//go:build amd64 || arm64

package sandbox

import "testing"

// A Sandbox like an earlier one of this process is opened without starting anything.
func TestOpenedAgain(t *testing.T) {
	for again := range 2 {
		s, err := Open(t.Context())
		must(t, err)
		nothing := false
		s.spawner.begin.Do(func() { nothing = true; close(s.spawner.ended) })
		if again == 1 && !nothing {
			t.Error("a process was started")
		}
		must(t, s.Close())
	}
}
