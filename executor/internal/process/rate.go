package process

import "time"

// rate is how fast a file system loses space.
type rate struct {
	lost space
	in   time.Duration
}

// rate compares the free space with the last look.
func (d *diskCheck) rate(free space, now time.Time) rate {
	r := rate{d.before.minus(free), now.Sub(d.looked)}
	d.before, d.looked = free, now
	return r
}

// pause returns how long it takes to lose left at this rate, within the bounds of
// a pause.
func (r rate) pause(left space) time.Duration {
	pause := diskTick
	for _, of := range [][2]int64{{left.bytes, r.lost.bytes}, {left.files, r.lost.files}} {
		if left, lost := of[0], of[1]; lost > 0 {
			pause = min(pause, time.Duration(float64(r.in)*float64(left)/float64(lost)))
		}
	}
	return max(pause, diskQuick)
}
