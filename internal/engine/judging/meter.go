package judging

import "context"

// meter bounds the work of one decision, and stops it when its context ends.
type meter struct {
	ctx       context.Context
	left      int
	unchecked int
}

func newMeter(ctx context.Context) *meter { return &meter{ctx: ctx, left: maxWork} }

// spend counts n units of work. It returns false if the bound is reached or the context has
// ended. Callers then treat what they compare as different.
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

// exhausted reports whether spend has returned false.
func (m *meter) exhausted() bool { return m.left <= 0 }
