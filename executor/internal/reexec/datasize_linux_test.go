//go:build amd64 || arm64

package reexec

import "testing"

func TestField(t *testing.T) {
	for line, want := range map[string]string{
		"1 2 3 4 5 678 9\n": "678", "0 0 0 0 0 6\n": "6", "1 2 3\n": "", "": "", "1 2 3 4 5 6": "",
	} {
		if got := field([]byte(line), 5); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestLeastData(t *testing.T) {
	if got := leastData(); got <= spareData || got == 2*spareData {
		t.Errorf("%d bytes: /proc/self/statm was not read", got)
	}
}
