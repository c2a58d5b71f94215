package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/satchel-go/satchel/internal/files/durable"
)

// openDir opens a directory. The error is ErrDamaged if name is something else.
func openDir(root *os.Root, name string) (*os.Root, fs.FileInfo, error) {
	dir, info, err := durable.OpenDir(root, name)
	return dir, info, asDamaged(err)
}

// listNames returns the unsorted names in a directory. The error is ErrDamaged if name is no
// directory.
func listNames(root *os.Root, name string) ([]string, error) {
	names, err := durable.List(root, name)
	return names, asDamaged(err)
}

// readFile returns the content of a file. The error is ErrDamaged if name is no regular file,
// or larger than the files of the store.
func readFile(root *os.Root, name string) ([]byte, error) {
	data, err := durable.Read(root, name, maxFile)
	return data, asDamaged(err)
}

// asDamaged wraps the error of an unexpected kind of file in ErrDamaged.
func asDamaged(err error) error {
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
