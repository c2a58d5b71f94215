//go:build !unix && !windows

package plainfile

import "io/fs"

// IDOf returns the zero ID: this system gives files no numbers.
func IDOf(fs.FileInfo) ID { return ID{} }
