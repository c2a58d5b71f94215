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
	usedSuffix = ".used"  // when an archive was used last
	sweptFile  = ".swept" // when the directory was looked through last
)

// stored is an archive in the directory.
type stored struct {
	digest string
	size   int64
	used   time.Time
	named  bool // by an address
}

// touch notes that a file says now, or an archive is used now.
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

// use notes that an archive is read.
func (c *Cache) use(digest string) {
	if ago, ok := c.since(digest + usedSuffix); !ok || ago.Abs() > sweptEach {
		c.touch(digest + usedSuffix)
	}
	if ago, ok := c.since(sweptFile); !ok || ago.Abs() > sweptEach {
		c.sweep()
	}
}

// list returns the archives of the directory, those that were used last at the end, and
// removes what crashes have left.
func (c *Cache) list() []stored {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil
	}
	named := make(map[string]time.Time)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "url-") {
			if k, ok := readKnown(filepath.Join(c.dir, e.Name())); ok && k.Checked.After(named[k.SHA256]) {
				named[k.SHA256] = k.Checked
			}
		}
	}
	var all []stored
	for _, e := range entries {
		ago, ok := c.since(e.Name())
		switch name := e.Name(); {
		case !ok:
		case strings.HasPrefix(name, ".unpack-"), strings.HasPrefix(name, ".download-"), strings.HasPrefix(name, ".url-"):
			if ago > keptFor {
				_ = os.RemoveAll(filepath.Join(c.dir, name))
			}
		case isDigest(name) && e.IsDir():
			s := stored{digest: name, size: sizeOf(filepath.Join(c.dir, name)), used: c.now().Add(-ago)}
			if ago, ok := c.since(name + usedSuffix); ok {
				s.used = c.now().Add(-ago)
			}
			if checked, ok := named[name]; ok {
				if s.named = true; checked.After(s.used) {
					s.used = checked
				}
			}
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b stored) int { return cmp.Or(a.used.Compare(b.used), strings.Compare(a.digest, b.digest)) })
	return all
}

// sizeOf returns the bytes of a directory's files, each at least one block, with its
// folders.
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

// sweep removes the archives that no address names and that were unused for a day.
func (c *Cache) sweep() {
	c.touch(sweptFile)
	for _, s := range c.list() {
		if !s.named && c.now().Sub(s.used) > keptFor {
			c.remove(s.digest)
		}
	}
}

// makeRoom removes archives until there is room for size bytes: those that no address names,
// then those that were unused for a day, the oldest first. The error wraps ErrRefused if that
// is not enough.
func (c *Cache) makeRoom(size int64) error {
	all := c.list()
	for _, s := range all {
		size += s.size
	}
	for _, named := range []bool{false, true} {
		for _, s := range all {
			if size > c.most && s.named == named && (!named || c.now().Sub(s.used) > keptFor) {
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

// remove takes an archive away: first its name, so that no part of it is found.
func (c *Cache) remove(digest string) {
	dir := filepath.Join(c.dir, digest)
	gone := filepath.Join(c.dir, ".unpack-gone-"+digest)
	if os.Rename(dir, gone) == nil {
		_ = os.RemoveAll(gone)
	}
	_ = os.Remove(dir + usedSuffix)
}
