package trace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// errNoReader reports a named pipe that no process reads.
var errNoReader = errors.New("no process reads the pipe")

// device is a named pipe, a terminal or another device.
type device struct {
	path   string
	isPipe bool
	torn   bool

	mu            sync.Mutex
	f             *os.File // nil until a pipe has a reader
	isInterrupted bool
}

// openDevice opens a device. A pipe without a reader is opened by the first write. A pipe has one
// writer, like a file.
func openDevice(path string, mode fs.FileMode) (*device, error) {
	d := &device{path: path, isPipe: mode&fs.ModeNamedPipe != 0}
	err := d.open()
	switch {
	case err != nil && d.isPipe && isWithoutReader(err):
		err = nil
	case errors.Is(err, errBusy):
		err = fmt.Errorf("%s: %w: name a directory (DIR/), in which each process writes a file of its own", path, err)
	}
	return d, err
}

func (d *device) open() error {
	f, err := os.OpenFile(d.path, os.O_WRONLY|os.O_APPEND|plainfile.NonBlock, 0)
	if err != nil {
		return err
	}
	if d.isPipe { // a terminal and /dev/null may have many writers
		if err := lockFile(f); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.f = f
	if d.isInterrupted {
		_ = f.SetWriteDeadline(time.Now())
	}
	return nil
}

func (d *device) write(ctx context.Context, line []byte) (int, error) {
	for d.f == nil {
		if err := d.open(); err != nil && !isWithoutReader(err) {
			return 0, err
		}
		if d.f != nil {
			break
		}
		select {
		case <-ctx.Done():
			return 0, errNoReader
		case <-time.After(pollTime):
		}
	}
	n, err := d.f.Write(line)
	if n > 0 {
		d.torn = n < len(line)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errBlocked
	}
	return n, err
}

func (d *device) isTorn() bool    { return d.torn }
func (d *device) isFull() bool    { return false }
func (d *device) fits(int64) bool { return true }
func (d *device) rotate() error   { return nil }

func (d *device) interrupt() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.isInterrupted = true
	if d.f != nil {
		_ = d.f.SetWriteDeadline(time.Now())
	}
}

func (d *device) close() error {
	if d.f == nil {
		return nil
	}
	return d.f.Close()
}
