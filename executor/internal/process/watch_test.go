package process

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// tellingCheck records when it is asked.
type tellingCheck struct {
	start  time.Time
	pause  time.Duration
	endAt  int // number of the look that returns reason
	reason executor.Reason
	looks  []time.Duration
	closed int
}

func (c *tellingCheck) look(<-chan struct{}) (executor.Reason, time.Duration) {
	c.looks = append(c.looks, time.Since(c.start))
	if len(c.looks) == c.endAt {
		return c.reason, 0
	}
	return "", c.pause
}

func (c *tellingCheck) close() { c.closed++ }

func TestWatch(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name   string
		checks []*tellingCheck
		stop   time.Duration
		want   []executor.Reason
		looks  [][]time.Duration
	}{
		{"ended before the first look", []*tellingCheck{{pause: 50 * ms}}, 19 * ms, nil, [][]time.Duration{nil}},
		{"each at its pace", []*tellingCheck{{pause: 50 * ms}, {pause: 30 * ms}}, 125 * ms, nil,
			[][]time.Duration{{20 * ms, 70 * ms, 120 * ms}, {20 * ms, 50 * ms, 80 * ms, 110 * ms}}},
		{"a reason ends all", []*tellingCheck{{pause: 50 * ms}, {pause: 30 * ms, endAt: 2, reason: executor.ReasonDisk}}, time.Hour, []executor.Reason{executor.ReasonDisk},
			[][]time.Duration{{20 * ms}, {20 * ms, 50 * ms}}},
		{"the first reason", []*tellingCheck{{endAt: 1, reason: executor.ReasonOOM}, {endAt: 1, reason: executor.ReasonDisk}}, time.Hour, []executor.Reason{executor.ReasonOOM},
			[][]time.Duration{{20 * ms}, nil}},
		{"nothing to check", nil, time.Hour, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				checks := []Check{nil}
				for _, c := range tt.checks {
					c.start = start
					checks = append(checks, c)
				}
				stop := make(chan struct{})
				timer := time.AfterFunc(tt.stop, func() { close(stop) })
				var reasons []executor.Reason
				runChecks(stop, func(r executor.Reason) { reasons = append(reasons, r) }, checks...)
				timer.Stop()
				if !slices.Equal(reasons, tt.want) {
					t.Errorf("reasons %q, want %q", reasons, tt.want)
				}
				if took := time.Since(start); took > tt.stop {
					t.Errorf("returned after %v", took)
				}
				for i, c := range tt.checks {
					if c.closed != 1 {
						t.Errorf("check %d was closed %d times", i, c.closed)
					}
					if !slices.Equal(c.looks, tt.looks[i]) {
						t.Errorf("check %d looked at %v, want %v", i, c.looks, tt.looks[i])
					}
				}
			})
		})
	}
}
