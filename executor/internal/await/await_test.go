package await

import (
	"context"
	"errors"
	"testing"
)

// TestDone checks that an end counts before the end of the context.
func TestDone(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	ended := make(chan struct{})
	close(ended)
	for name, tt := range map[string]struct {
		ctx  context.Context
		done chan struct{}
		want error
	}{
		"ended": {t.Context(), ended, nil}, "both": {over, ended, nil}, "context": {over, make(chan struct{}), context.Canceled},
	} {
		if err := Done(tt.ctx, tt.done); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
