package remote

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/satchel-go/satchel/executor"
)

// process is an interactive command.
type process struct {
	*command
	typing sync.Mutex // one Write at a time
}

var _ executor.Process = (*process)(nil)

// Write implements executor.Process. It returns when the process has taken the input.
func (p *process) Write(b []byte) (int, error) {
	p.typing.Lock()
	defer p.typing.Unlock()
	n, err := p.stream.writeTaken(b)
	if err != nil {
		return n, fmt.Errorf("write input: %w", io.ErrClosedPipe)
	}
	return n, nil
}

// CloseInput implements executor.Process.
func (p *process) CloseInput() error {
	p.stream.closeOut()
	return nil
}

// Resize implements executor.Process.
func (p *process) Resize(rows, cols uint16) error {
	if !p.term.TTY {
		return fmt.Errorf("resize: %w", errors.ErrUnsupported)
	}
	select {
	case <-p.answered:
		return fmt.Errorf("resize: %w: the process has ended", errors.ErrUnsupported)
	default:
	}
	body := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, rows), cols)
	if err := p.runner.conn.send(kindResize, p.stream.id, body); err != nil {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err) // the process has ended
	}
	return nil
}

// Kill implements executor.Process.
func (p *process) Kill() { p.kill() }

// Done implements executor.Process.
func (p *process) Done() <-chan struct{} { return p.done }

// Wait implements executor.Process.
func (p *process) Wait(ctx context.Context) (executor.Result, error) {
	select {
	case <-p.done:
	case <-ctx.Done():
		select {
		case <-p.done: // an end counts before the end of ctx
		default:
			return executor.Result{}, ctx.Err()
		}
	}
	return p.result, p.fault
}
