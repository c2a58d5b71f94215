package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// interactive is the Process of a running command.
type interactive struct{ r *running }

var _ Process = interactive{}

func (p interactive) Write(b []byte) (int, error) {
	if p.r.stdin == nil {
		return 0, fmt.Errorf("write input: %w", ErrEnded)
	}
	var to io.Writer = p.r.stdin
	if p.r.tty != nil {
		to = p.r.tty
	}
	n, err := to.Write(b)
	if err != nil {
		return n, fmt.Errorf("write input: %w: %w", ErrEnded, err)
	}
	return n, nil
}

func (p interactive) CloseInput() error {
	if p.r.stdin == nil {
		return nil
	}
	end := p.r.stdin.Close
	if p.r.tty != nil {
		end = p.r.tty.end
	}
	if err := end(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return fmt.Errorf("close input: %w", err)
	}
	return nil
}

func (p interactive) Resize(rows, cols uint16) error {
	if p.r.tty == nil {
		return fmt.Errorf("resize: %w", ErrNoTTY)
	}
	if err := resizeTerminal(p.r.tty.File, rows, cols); err != nil {
		return fmt.Errorf("%w: %w", ErrNoTTY, err) // it went with its process
	}
	return nil
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
