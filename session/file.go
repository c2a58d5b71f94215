package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/satchel-go/satchel/internal/durable"
)

// openDir opens a directory. What is not one is ErrDamaged.
func openDir(root *os.Root, name string) (*os.Root, fs.FileInfo, error) {
	dir, info, err := durable.OpenDir(root, name)
	return dir, info, damaged(err)
}

// listNames returns the names in a directory in no order. What is not one is
// ErrDamaged.
func listNames(root *os.Root, name string) ([]string, error) {
	names, err := durable.List(root, name)
	return names, damaged(err)
}

// readFile returns the whole of a file. What is not a file of a size that we
// write is ErrDamaged.
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

// writeNew writes a file that must not exist yet, durable when sync is set.
func writeNew(root *os.Root, name string, data []byte, sync bool) error {
	return durable.WriteNew(root, name, sync, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
