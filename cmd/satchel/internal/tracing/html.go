package tracing

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

// writePage writes a page to a file that only its owner can read, because it holds all that is said.
// The file is replaced when the page is whole. "-" is standard output.
func writePage(c cli.Console, path string, write func(io.Writer) error) error {
	if path == "-" {
		return write(c.Out)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0) // a pipe or a device
		if err != nil {
			return fmt.Errorf("write page: %w", err)
		}
		return errors.Join(write(file), file.Close())
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	out := bufio.NewWriter(temp)
	if err := errors.Join(write(out), out.Flush(), temp.Close()); err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return errors.Join(fmt.Errorf("write page: %w", err), os.Remove(temp.Name()))
	}
	return nil
}
