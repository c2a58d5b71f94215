// Package await waits for the ends of processes.
package await

import "context"

// Done waits until done is closed. The error is that of ctx if ctx ends before.
func Done(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	default:
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
