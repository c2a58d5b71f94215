//go:build !unix

package process

import (
	"io/fs"
	"os"
	"path/filepath"
)

// tree counts everything below a directory, and returns false if stop was closed. It counts the
// sizes of files: this system does not report their space on disk.
func (c *count) tree(top *os.File) bool {
	err := filepath.WalkDir(top.Name(), func(path string, d fs.DirEntry, err error) error {
		switch {
		case c.isStopped():
			return fs.ErrClosed
		case err != nil:
			c.hidden = true
			return nil
		case path == top.Name():
			return nil
		}
		if c.used.files++; c.used.exceeds(c.most) {
			return fs.SkipAll
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			c.add(info.Size(), fileID{}, 1)
		}
		return nil
	})
	return err == nil
}
