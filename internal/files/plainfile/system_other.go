//go:build !unix

package plainfile

import (
	"io/fs"
)

// Systems without named pipes in the file system have nothing to wait for.
const (
	NonBlock      = 0
	DirectoryOnly = 0
)

// hardLinks is unknown here without another way to open the file.
func hardLinks(fs.FileInfo) uint64 { return 0 }
