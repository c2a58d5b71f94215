package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// writeFile writes to a file of the kernel, in one call, as the kernel requires.
// It does not use os.File, which would register the descriptor with the poller.
// It repeats a write that a signal interrupts, because the Go runtime sends
// signals and one can abort the change of a limit.
func writeFile(path, text string) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		for {
			if _, err = unix.Write(fd, []byte(text)); !errors.Is(err, unix.EINTR) {
				break
			}
		}
		_ = unix.Close(fd)
	}
	if err != nil {
		return fmt.Errorf("write %q to %s: %w", text, path, err)
	}
	return nil
}

// readWords returns the words in a file of the kernel.
func readWords(dir, name string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, name))
	return strings.Fields(string(text)), err
}

func rmdir(dir string) error {
	for {
		if err := unix.Rmdir(dir); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
