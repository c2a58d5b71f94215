package process

import "time"

// rate is the space that a file system has lost in a time.
type rate struct {
	lost    space
	elapsed time.Duration
}

// rate returns the space lost since the last look, and records this one.
func (d *diskCheck) rate(free space, now time.Time) rate {
	r := rate{d.lookedFree.minus(free), now.Sub(d.lookedAt)}
	d.lookedFree, d.lookedAt = free, now
	return r
}

// pause returns how long it takes to lose the allowance at this rate: at least diskQuick and at most
// diskTick.
func (r rate) pause(allowance space) time.Duration {
	pause := diskTick
	for _, pair := range [][2]int64{{allowance.bytes, r.lost.bytes}, {allowance.files, r.lost.files}} {
		if allowed, lost := pair[0], pair[1]; lost > 0 {
			pause = min(pause, time.Duration(float64(r.elapsed)*float64(allowed)/float64(lost)))
		}
	}
	return max(pause, diskQuick)
}
