//go:build unix

package remote

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/satchel-go/satchel/executor"
)

// copyPipe returns a copy of a file of Command.Pipes, and what the program does with it.
func copyPipe(file *os.File) (*os.File, byte, error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, 0, err
	}
	fd, use := -1, byte(0)
	var failed error
	err = raw.Control(func(orig uintptr) {
		if use, failed = useOf(int(orig)); failed == nil {
			fd, failed = duplicate(int(orig))
		}
	})
	if err = errors.Join(err, failed); err != nil {
		return nil, 0, err
	}
	return os.NewFile(uintptr(fd), "pipe"), use, nil
}

// useOf returns what a program does with an end of a pipe. Reading or writing nothing fails where the
// end is not open for that.
func useOf(fd int) (byte, error) {
	_, reads := syscall.Read(fd, nil)
	_, writes := syscall.Write(fd, nil)
	switch {
	case reads == nil && writes != nil:
		return readsPipe, nil
	case writes == nil && reads != nil:
		return writesPipe, nil
	}
	return 0, fmt.Errorf("%w: a pipe that is open for reading and writing", executor.ErrCommand)
}

// duplicate returns a copy of a descriptor that no child inherits, and on which a goroutine can wait.
func duplicate(fd int) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	copied, err := syscall.Dup(fd)
	if err != nil {
		return -1, fmt.Errorf("copy pipe: %w", err)
	}
	syscall.CloseOnExec(copied)
	if err := syscall.SetNonblock(copied, true); err != nil {
		_ = syscall.Close(copied)
		return -1, fmt.Errorf("copy pipe: %w", err)
	}
	return copied, nil
}
