//go:build unix && !linux

package remote

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// identityAt returns the device and inode of a directory. It refuses a path with a link in it.
func identityAt(path string) (dev, ino uint64, err error) {
	if !filepath.IsAbs(path) {
		return 0, 0, fmt.Errorf("%q is not absolute", path)
	}
	path = filepath.Clean(path)
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return 0, 0, err
		}
		if !info.IsDir() {
			return 0, 0, fmt.Errorf("%q is no directory, or a link to one", at)
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && at == path {
			dev, ino = uint64(stat.Dev), uint64(stat.Ino)
		}
		if at == filepath.Dir(at) {
			return dev, ino, nil
		}
	}
}
