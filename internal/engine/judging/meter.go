package judging

import "context"

// meter bounds the work of one decision and ends it with its context.
type meter struct {
	ctx       context.Context
	left      int
	unchecked int
}

func newMeter(ctx context.Context) *meter { return &meter{ctx: ctx, left: maxWork} }

// spend notes n units of work. It reports false when nothing is left or the
// context has ended: what is being compared then counts as different.
func (m *meter) spend(n int) bool {
	if m.left -= n; m.left <= 0 {
		return false
	}
	if m.unchecked += n; m.unchecked >= checkEvery {
		m.unchecked = 0
		if m.ctx.Err() != nil {
			m.left = 0
			return false
		}
	}
	return true
}

// exhausted reports that a comparison was given up.
func (m *meter) exhausted() bool { return m.left <= 0 }
