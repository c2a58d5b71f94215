package conversation_test

import (
	"fmt"
	"testing"
)

// TestConversations plays random conversations and checks every request. Run
// one again with -run 'TestConversations/seed=7$'.
func TestConversations(t *testing.T) {
	t.Parallel()
	seeds, steps := 150, 60
	if testing.Short() {
		seeds = 60
	}
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
