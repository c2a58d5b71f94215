package executor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// interactive is the Process of a running command.
type interactive struct{ r *running }

var _ Process = interactive{}

func (p interactive) Write(b []byte) (int, error) {
	if p.r.stdin == nil {
		return 0, fmt.Errorf("write input: %w", ErrEnded)
	}
	n, err := p.r.stdin.Write(b)
	if err != nil {
		return n, fmt.Errorf("write input: %w: %w", ErrEnded, err)
	}
	return n, nil
}

func (p interactive) CloseInput() error {
	if p.r.stdin == nil {
		return nil
	}
	if err := p.r.stdin.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return fmt.Errorf("close input: %w", err)
	}
	return nil
}

func (p interactive) Resize(uint16, uint16) error {
	return fmt.Errorf("resize: %w", ErrNoTTY)
}

func (p interactive) Kill() { p.r.endWith(ReasonCancelled) }

func (p interactive) Done() <-chan struct{} { return p.r.done }

func (p interactive) Wait(ctx context.Context) (Result, error) {
	select {
	case <-p.r.done:
		return p.r.result, p.r.fault
	default:
	}
	select {
	case <-p.r.done:
		return p.r.result, p.r.fault
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}
