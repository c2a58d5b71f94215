package archive

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Files of the cache beside the archives.
const (
	usedSuffix = ".used"  // its time is that of the last use of an archive
	sweptFile  = ".swept" // its time is that of the last sweep
)

// cachedArchive is an archive in the directory.
type cachedArchive struct {
	digest     string
	size       int64
	used       time.Time // last use
	hasAddress bool      // an address has this archive
}

// touch sets the time of a file to now. It makes the file if it does not exist.
func (c *Cache) touch(name string) {
	file, now := filepath.Join(c.dir, name), c.now()
	if err := os.Chtimes(file, now, now); errors.Is(err, fs.ErrNotExist) {
		if os.WriteFile(file, nil, 0o600) == nil {
			_ = os.Chtimes(file, now, now)
		}
	}
}

// since returns how long ago a file was touched.
func (c *Cache) since(name string) (time.Duration, bool) {
	info, err := os.Lstat(filepath.Join(c.dir, name))
	if err != nil {
		return 0, false
	}
	return c.now().Sub(info.ModTime()), true
}

// use records the use of an archive, and sweeps if that is due.
func (c *Cache) use(digest string) {
	if ago, ok := c.since(digest + usedSuffix); !ok || ago.Abs() > sweepEvery {
		c.touch(digest + usedSuffix)
	}
	if ago, ok := c.since(sweptFile); !ok || ago.Abs() > sweepEvery {
		c.sweep()
	}
}

// list returns the archives of the directory, the latest used last. It removes the old temporary
// files of crashes.
func (c *Cache) list() []cachedArchive {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil
	}
	checked := make(map[string]time.Time) // by digest: the last check of an address that has it
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "url-") {
			if k, ok := readRecord(filepath.Join(c.dir, e.Name())); ok && k.Checked.After(checked[k.SHA256]) {
				checked[k.SHA256] = k.Checked
			}
		}
	}
	var all []cachedArchive
	for _, e := range entries {
		ago, ok := c.since(e.Name())
		switch name := e.Name(); {
		case !ok:
		case strings.HasPrefix(name, ".unpack-"), strings.HasPrefix(name, ".download-"), strings.HasPrefix(name, ".url-"):
			if ago > keptFor {
				_ = os.RemoveAll(filepath.Join(c.dir, name))
			}
		case isDigest(name) && e.IsDir():
			s := cachedArchive{digest: name, size: sizeOf(filepath.Join(c.dir, name)), used: c.now().Add(-ago)}
			if ago, ok := c.since(name + usedSuffix); ok {
				s.used = c.now().Add(-ago)
			}
			if at, ok := checked[name]; ok {
				if s.hasAddress = true; at.After(s.used) {
					s.used = at
				}
			}
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b cachedArchive) int {
		return cmp.Or(a.used.Compare(b.used), strings.Compare(a.digest, b.digest))
	})
	return all
}

// sizeOf returns the space of a directory on disk, in bytes: each file and folder takes whole
// blocks.
func sizeOf(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it is being removed
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			size += (info.Size() + fileBlock - 1) / fileBlock * fileBlock
		} else {
			size += fileBlock
		}
		return nil
	})
	return size
}

// sweep removes the archives without address that were unused for a day.
func (c *Cache) sweep() {
	c.touch(sweptFile)
	for _, s := range c.list() {
		if !s.hasAddress && c.now().Sub(s.used) > keptFor {
			c.remove(s.digest)
		}
	}
}

// makeRoom removes archives until there is room for size bytes: first those without address, then
// those that were unused for a day, the oldest first. The error wraps ErrRefused if that is not
// enough.
func (c *Cache) makeRoom(size int64) error {
	all := c.list()
	for _, s := range all {
		size += s.size
	}
	for _, hasAddress := range []bool{false, true} {
		for _, s := range all {
			if size > c.most && s.hasAddress == hasAddress && (!hasAddress || c.now().Sub(s.used) > keptFor) {
				c.remove(s.digest)
				size -= s.size
			}
		}
	}
	if size > c.most {
		return fmt.Errorf("%w: the cache %s would have more than %d bytes", ErrRefused, c.dir, c.most)
	}
	return nil
}

// remove removes an archive. It renames the folder first, so that no process finds a part of it.
func (c *Cache) remove(digest string) {
	dir := filepath.Join(c.dir, digest)
	trash := filepath.Join(c.dir, ".unpack-gone-"+digest)
	if os.Rename(dir, trash) == nil {
		_ = os.RemoveAll(trash)
	}
	_ = os.Remove(dir + usedSuffix)
}
