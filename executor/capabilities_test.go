package executor

import "testing"

func TestIsolationIsNone(t *testing.T) {
	for isolation, want := range map[Isolation]bool{"": true, "none": true, IsolationLandlock: false, IsolationNamespaces: false, "vm": false} {
		if got := isolation.IsNone(); got != want {
			t.Errorf("%q: %v", string(isolation), got)
		}
	}
}
