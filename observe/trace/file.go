package trace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// errBusy reports a file that another process writes.
var errBusy = errors.New("another process writes this file")

// openOutput opens the output for a path, which may be a directory.
func openOutput(path string, size int64) (output, error) {
	if path == "" {
		return nil, errors.New("the path is empty: name a file, or a directory with a separator at its end")
	}
	info, err := os.Stat(path)
	isDir := err == nil && info.IsDir() || os.IsPathSeparator(path[len(path)-1])
	switch {
	case isDir:
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
		return openFile(filepath.Join(path, ownName()), size, os.O_EXCL)
	case err == nil && !info.Mode().IsRegular():
		return openDevice(path, info.Mode())
	case err == nil:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	return openFile(path, size, 0)
}

// ownName returns a name for the file of this process. Names sort by time.
func ownName() string {
	return fmt.Sprintf("%s-%d-%s.jsonl", time.Now().UTC().Format("20060102T150405Z"), os.Getpid(), randomText())
}

func randomText() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// file is a regular file that is replaced when it is full.
type file struct {
	path string
	f    *os.File
	// limit is the size from which a file is full, and size the current one.
	limit, size int64
	step        int64 // is added to limit if there can be no new file
	torn        bool
	next        int // suffix of the next full file
}

// openFile opens and locks a file. flag is added to the flags of the open call.
func openFile(path string, limit int64, flag int) (*file, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|plainfile.NonBlock|flag, 0o600)
		if err != nil {
			return nil, err
		}
		o := &file{path: path, f: f, limit: limit, step: limit/8 + 1}
		isCurrent, err := o.prepare()
		if err == nil && isCurrent {
			return o, nil
		}
		_ = f.Close()
		if err != nil {
			return nil, err
		}
	}
}

// prepare locks the opened file and reads how it ends. isCurrent is false if another process has
// replaced the file meanwhile.
func (o *file) prepare() (isCurrent bool, err error) {
	if err := lockFile(o.f); err != nil {
		return false, fmt.Errorf("%s: %w: name a directory (DIR/, as in %s%c), in which each process writes a file of its own",
			o.path, err, filepath.Join(filepath.Dir(o.path), "traces"), filepath.Separator)
	}
	info, err := o.f.Stat()
	if err != nil {
		return false, err
	}
	now, err := os.Stat(o.path)
	if err != nil || !os.SameFile(info, now) {
		return false, nil
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := o.f.Chmod(0o600); err != nil {
			return false, fmt.Errorf("%s can be read by others: %w", o.path, err)
		}
	}
	if o.size = info.Size(); o.size > 0 {
		var last [1]byte
		if _, err := o.f.ReadAt(last[:], o.size-1); err != nil {
			return false, err
		}
		o.torn = last[0] != '\n'
	}
	return true, nil
}

func (o *file) write(_ context.Context, line []byte) (int, error) {
	n, err := o.f.Write(line)
	if n > 0 {
		o.size, o.torn = o.size+int64(n), n < len(line)
	}
	return n, err
}

func (o *file) isTorn() bool      { return o.torn }
func (o *file) isFull() bool      { return o.size >= o.limit }
func (o *file) fits(n int64) bool { return n < o.limit }
func (o *file) interrupt()        {}

func (o *file) close() error {
	_ = unlockFile(o.f)
	return o.f.Close()
}

// rotate gives the file a number and begins a new one. There is a locked file at the path all the
// time, so no other process can become its writer. If it fails, the file becomes larger.
func (o *file) rotate() (err error) {
	defer func() {
		if err != nil {
			o.limit += o.step
		}
	}()
	if !replacesOpen {
		return o.moveAway()
	}
	next := filepath.Join(filepath.Dir(o.path), "."+filepath.Base(o.path)+"-"+randomText())
	f, err := os.OpenFile(next, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = lockFile(f); err == nil {
		if err = o.keep(); err == nil {
			err = os.Rename(next, o.path)
		}
	}
	if err != nil {
		_ = f.Close()
		return errors.Join(err, os.Remove(next))
	}
	_ = o.f.Close()
	o.f, o.size, o.torn = f, 0, false
	return nil
}

// keep gives the full file its number as a further name. On a file system without links it renames
// the file.
func (o *file) keep() error {
	if o.next == 0 {
		o.next = lastNumber(o.path) + 1
	}
	for ; ; o.next++ {
		to := o.path + "." + strconv.Itoa(o.next)
		err := os.Link(o.path, to)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			err = os.Rename(o.path, to)
		}
		if errors.Is(err, fs.ErrNotExist) { // somebody has moved the file
			return nil
		}
		if err == nil {
			o.next++
		}
		return err
	}
}

// moveAway gives the file its number and begins a new one, where an open file cannot be replaced. For a
// moment there is no locked file at the path. If another process makes one meanwhile, the file keeps
// its number and becomes larger.
func (o *file) moveAway() error {
	to := o.path + "." + strconv.Itoa(lastNumber(o.path)+1)
	_ = unlockFile(o.f)
	_ = o.f.Close()
	err := os.Rename(o.path, to) // it fails while another program reads the file
	if err != nil {
		return errors.Join(err, o.reopen(o.path, 0))
	}
	if err = o.reopen(o.path, os.O_EXCL); err != nil {
		err = errors.Join(err, o.reopen(to, 0))
	}
	return err
}

// reopen goes on with the file at a path.
func (o *file) reopen(path string, flag int) error {
	f, err := openFile(path, o.limit, flag)
	if err == nil {
		f.step = o.step
		*o = *f
	}
	return err
}

// lastNumber returns the greatest number of a full file of path.
func lastNumber(path string) (last int) {
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+".")
		if n, err := strconv.Atoi(rest); ok && err == nil && n > last {
			last = n
		}
	}
	return last
}
