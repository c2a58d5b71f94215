//go:build amd64 || arm64

package sandbox

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestForksDecide asks for threads. A thread that was allowed and is not there yet counts, and the threads
// are counted only when the upper bound has reached the limit.
func TestForksDecide(t *testing.T) {
	const limit = 4
	for name, tt := range map[string]struct {
		asks    []uint32
		exist   func(since time.Duration) int
		want    string // + for a thread that is allowed, - for one that is refused
		counted bool
		took    time.Duration
	}{
		"below the limit":         {[]uint32{1, 2, 3, 1}, func(time.Duration) int { return 0 }, "++++", false, 0},
		"others have ended":       {[]uint32{1, 1, 1, 1, 1}, func(time.Duration) int { return 1 }, "+++++", true, 0},
		"all exist":               {[]uint32{1, 2, 3, 4, 5}, func(time.Duration) int { return 4 }, "++++-", true, 0},
		"some are slow":           {[]uint32{1, 2, 3, 4, 5}, appear(10*time.Millisecond, 2, 4), "++++-", true, 10 * time.Millisecond},
		"some were not made":      {[]uint32{1, 2, 3, 4, 5}, func(time.Duration) int { return 2 }, "+++++", true, forkWait + minCountPause},
		"refused, and then ended": {[]uint32{1, 2, 3, 4, 5, 5}, appear(0, 4, 4, 3), "++++-+", true, forkWait + minCountPause},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, counts := time.Now(), 0
				f := &forks{limit: limit, stopping: make(chan struct{}), allowed: map[uint32]time.Time{}}
				f.count = func() int {
					counts++
					return tt.exist(time.Since(start))
				}
				got := ""
				for _, thread := range tt.asks {
					isAllowed, ok := f.decide(thread)
					switch {
					case !ok:
						got += "?"
					case isAllowed:
						got += "+"
					default:
						got += "-"
					}
				}
				if took := time.Since(start); got != tt.want || counts > 0 != tt.counted || took > tt.took+minCountPause || took < tt.took-minCountPause {
					t.Errorf("%s after %v and %d counts, want %s after %v", got, took, counts, tt.want, tt.took)
				}
			})
		})
	}
}

// appear returns a count that is first before a time, and then each of the others once, the last for ever.
func appear(at time.Duration, first int, then ...int) func(time.Duration) int {
	return func(since time.Duration) int {
		if since < at {
			return first
		}
		n := then[0]
		if len(then) > 1 {
			then = then[1:]
		}
		return n
	}
}

// TestForksStop stops while a thread waits for others to appear.
func TestForksStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &forks{limit: 1, stopping: make(chan struct{}), allowed: map[uint32]time.Time{}, count: func() int { return 0 }}
		f.decide(1)
		go f.stop()
		if _, ok := f.decide(2); ok {
			t.Error("it was decided")
		}
	})
}
