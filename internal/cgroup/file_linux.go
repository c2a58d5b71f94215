package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// writeFile writes into a file of the kernel, in one call as it wants it. It
// goes around os.File, which would watch over the descriptor for readiness. A
// signal, as the runtime sends them, can break off the change of a limit.
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

// readWords returns the words of a file of the kernel.
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
