package chat

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/satchel-go/satchel/internal/files/collect"
	"github.com/satchel-go/satchel/internal/files/plainfile"
	"github.com/satchel-go/satchel/workspace"
)

// attachments reads the files of --attach, which the model finds in work/inputs as it finds
// those of a user's message. It returns nil for no files.
func attachments(files []string) (func(context.Context) []workspace.Attachment, error) {
	if len(files) == 0 {
		return nil, nil
	}
	all := make([]workspace.Attachment, len(files))
	for i, file := range files {
		data, err := readAttached(file)
		if err != nil {
			return nil, fmt.Errorf("--attach %q: %w", file, err)
		}
		name := filepath.Base(file)
		all[i] = workspace.Attachment{Name: name, MIME: collect.MIME(name, data[:min(len(data), maxSniffed)]), Data: data}
	}
	return func(context.Context) []workspace.Attachment { return all }, nil
}

func readAttached(file string) ([]byte, error) {
	info, err := os.Stat(file) // opening a pipe would wait
	if err != nil {
		return nil, plainfile.Cause(err)
	}
	if !info.Mode().IsRegular() { // with hard links too: the user chose the file
		return nil, fmt.Errorf("want a file, not %s", plainfile.Kind(info.Mode()))
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, plainfile.Cause(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxAttached+1))
	if err == nil && len(data) > maxAttached {
		err = fmt.Errorf("it has more than %d MiB", maxAttached>>20)
	}
	return data, err
}
