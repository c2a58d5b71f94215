package eval

import "math"

// z95 is the quantile of the normal distribution between whose negative and itself 95 % lie.
const z95 = 1.959963984540054

// wilson returns the Wilson score interval at 95 % of the rate of hits in n trials. n is at least 1.
func wilson(hits, n int) (low, high float64) {
	trials, rate := float64(n), float64(hits)/float64(n)
	z2 := z95 * z95
	middle := rate + z2/(2*trials)
	spread := z95 * math.Sqrt(rate*(1-rate)/trials+z2/(4*trials*trials))
	scale := 1 + z2/trials
	low, high = (middle-spread)/scale, (middle+spread)/scale
	if hits == 0 { // the formula gives these exactly, but for rounding
		low = 0
	}
	if hits == n {
		high = 1
	}
	return low, high
}
