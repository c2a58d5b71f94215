//go:build unix

package process

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// level is a directory between the top and the one that is being counted.
type level struct {
	id   fileID
	dirs []string // its subdirectories that are still to be counted
}

// tree counts everything below a directory, and returns false if stop was closed. It holds only one
// open directory, however deep the tree is, and goes back up by "..".
func (c *count) tree(top *os.File) bool {
	dir, err := open(top, ".")
	if err != nil {
		c.hidden = true
		return true
	}
	var path []level
	for dir != nil {
		here, ok := c.directory(dir)
		if !ok || c.used.exceeds(c.most) {
			_ = dir.Close()
			return ok
		}
		dir, path = c.next(dir, append(path, here))
	}
	return true
}

// next closes dir, the last of path, and opens the next directory to count: below dir, or below a
// directory above it. It returns nil if there is none. It also returns nil if ".." leads to another
// directory, because the command has moved some; the rest is then not counted.
func (c *count) next(dir *os.File, path []level) (*os.File, []level) {
	for {
		last := &path[len(path)-1]
		for len(last.dirs) > 0 {
			name := last.dirs[len(last.dirs)-1]
			last.dirs = last.dirs[:len(last.dirs)-1]
			below, err := open(dir, name)
			if err == nil {
				_ = dir.Close()
				return below, path
			}
			if !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTDIR) && !errors.Is(err, unix.ELOOP) {
				c.hidden = true
			}
		}
		path = path[:len(path)-1]
		if len(path) == 0 {
			_ = dir.Close()
			return nil, nil
		}
		above, err := open(dir, "..")
		_ = dir.Close()
		if err != nil || idOf(above) != path[len(path)-1].id {
			_ = above.Close()
			c.hidden = true
			return nil, nil
		}
		dir = above
	}
}

// directory counts the entries of one directory.
func (c *count) directory(dir *os.File) (here level, ok bool) {
	here.id = idOf(dir)
	for {
		if c.isStopped() {
			return here, false
		}
		names, err := dir.Readdirnames(batch)
		for _, name := range names {
			if c.used.files++; c.used.exceeds(c.most) {
				return here, true
			}
			var st unix.Stat_t
			if unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
				continue // the file was removed
			}
			if st.Mode&unix.S_IFMT == unix.S_IFDIR {
				here.dirs = append(here.dirs, name)
				continue
			}
			c.add(st.Blocks*512, fileID{uint64(st.Dev), st.Ino}, uint64(st.Nlink)) //nolint:unconvert // the types differ between systems
		}
		if err != nil {
			c.hidden = c.hidden || !errors.Is(err, io.EOF)
			return here, true
		}
	}
}

// open opens a directory in another, but not through a link.
func open(in *os.File, name string) (*os.File, error) {
	for {
		fd, err := unix.Openat(int(in.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err == nil {
			return os.NewFile(uintptr(fd), name), nil
		}
		if !errors.Is(err, unix.EINTR) {
			return nil, err
		}
	}
}

// idOf identifies an open file.
func idOf(file *os.File) fileID {
	var st unix.Stat_t
	if unix.Fstat(int(file.Fd()), &st) != nil {
		return fileID{}
	}
	return fileID{uint64(st.Dev), st.Ino} //nolint:unconvert // the types differ between systems
}
