// Package plainfile opens files safely in directories where other programs may put pipes,
// devices or links in their place.
package plainfile

import (
	"io/fs"
)

// Kind returns the name of a type of file for messages, with its article.
func Kind(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a file"
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// ID identifies a file among those that exist at the same time. It is the same in all processes.
// The zero ID means that the file is unknown.
type ID [2]uint64
