package conversation_test

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// decided counts what mode adaptive did with texts of ended loads in TestConversations.
var decided struct{ kept, cleared atomic.Int64 }

// again counts the turns that were begun again there after they had loaded something.
var again atomic.Int64

// TestConversations plays random conversations and checks every request. Run
// one again with -run 'TestConversations/seed=7$'.
func TestConversations(t *testing.T) {
	t.Parallel()
	seeds, steps := 150, 60
	if testing.Short() {
		seeds = 60
	}
	t.Cleanup(func() {
		if !t.Failed() && (decided.kept.Load() == 0 || decided.cleared.Load() == 0) {
			t.Errorf("%d texts stayed, %d times some were cleared: does mode adaptive decide anything?", decided.kept.Load(), decided.cleared.Load())
		}
		if !t.Failed() && again.Load() == 0 {
			t.Error("no turn that had changed anything was begun again")
		}
	})
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			c := newConversation(t, uint64(seed))
			for range steps {
				c.step()
			}
			c.must(c.runtime.Close())
		})
	}
}
