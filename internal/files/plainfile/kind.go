// Package plainfile is what has to be known for reading a file where others may
// have put a pipe, a device or a link in its place.
package plainfile

import (
	"io/fs"
)

// Kind names a type of file for messages, with its article.
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

// ID tells files apart that exist at the same time, also in another process. The zero
// ID says that nothing is known.
type ID [2]uint64
