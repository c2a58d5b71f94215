//go:build !unix

package plainfile

import (
	"io/fs"
)

// The flags are 0 on systems without named pipes in the file system.
const (
	NonBlock      = 0
	DirectoryOnly = 0
)

// hardLinks returns 0: this system reports no number of names.
func hardLinks(fs.FileInfo) uint64 { return 0 }
