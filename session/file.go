package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/satchel-go/satchel/internal/files/durable"
)

// openDir opens a directory. The error is ErrDamaged if something else has that
// name.
func openDir(root *os.Root, name string) (*os.Root, fs.FileInfo, error) {
	dir, info, err := durable.OpenDir(root, name)
	return dir, info, damaged(err)
}

// listNames returns the names in a directory in no order. The error is ErrDamaged
// if it is not a directory.
func listNames(root *os.Root, name string) ([]string, error) {
	names, err := durable.List(root, name)
	return names, damaged(err)
}

// readFile returns the whole of a file. The error is ErrDamaged if it is not a
// regular file or larger than what the store writes.
func readFile(root *os.Root, name string) ([]byte, error) {
	data, err := durable.Read(root, name, maxFile)
	return data, damaged(err)
}

func damaged(err error) error {
	if errors.Is(err, durable.ErrIrregular) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// writeNew writes a file that must not exist yet. If sync is set the file is on
// disk when writeNew returns.
func writeNew(root *os.Root, name string, data []byte, sync bool) error {
	return durable.WriteNew(root, name, sync, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
