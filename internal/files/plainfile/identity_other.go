//go:build !linux && !darwin && !windows

package plainfile

import (
	"fmt"
	"io/fs"
)

// Identity returns a text that identifies an existing file or directory by device and inode.
func Identity(path string, info fs.FileInfo) (string, error) {
	id := IDOf(info)
	if id == (ID{}) {
		return "", fmt.Errorf("%s has no identity", path)
	}
	return fmt.Sprintf("%d:%d", id[0], id[1]), nil
}
