package eval

import (
	"math"
	"testing"
)

// The last row is an example of Newcombe (1998), method 3.
func TestWilson(t *testing.T) {
	tests := []struct {
		hits, n   int
		low, high float64
	}{
		{0, 1, 0, 0.793450},
		{1, 1, 0.206549, 1},
		{0, 3, 0, 0.561497},
		{3, 3, 0.438503, 1},
		{2, 3, 0.207660, 0.938509},
		{5, 10, 0.236593, 0.763407},
		{0, 10, 0, 0.277533},
		{81, 263, 0.255289, 0.366210},
	}
	for _, test := range tests {
		low, high := wilson(test.hits, test.n)
		if math.Abs(low-test.low) > 1e-5 || math.Abs(high-test.high) > 1e-5 {
			t.Errorf("%d of %d: %f to %f, want %f to %f", test.hits, test.n, low, high, test.low, test.high)
		}
		if low < 0 || high > 1 || low > high || (test.hits == 0) != (low == 0) {
			t.Errorf("%d of %d: %f to %f is no interval", test.hits, test.n, low, high)
		}
	}
}
