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

// tree counts everything below a directory, and returns false if stop was closed.
// It holds one open directory however deep the tree is, and goes back up by "..".
// If that does not lead back, because the command has moved directories
// meanwhile, the rest is not counted.
func (c *count) tree(top *os.File) bool {
	dir, err := open(top, ".")
	if err != nil {
		c.hidden = true
		return true
	}
	defer func() { _ = dir.Close() }()
	var path []level
	for {
		here, ok := c.directory(dir)
		if !ok || c.used.exceeds(c.most) {
			return ok
		}
		path = append(path, here)
		for {
			last := &path[len(path)-1]
			if n := len(last.dirs); n > 0 {
				name := last.dirs[n-1]
				last.dirs = last.dirs[:n-1]
				if below, err := open(dir, name); err == nil {
					_ = dir.Close()
					dir = below
					break
				} else if !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTDIR) && !errors.Is(err, unix.ELOOP) {
					c.hidden = true
				}
				continue
			}
			if path = path[:len(path)-1]; len(path) == 0 {
				return true
			}
			above, err := open(dir, "..")
			if err != nil || idOf(above) != path[len(path)-1].id {
				_ = above.Close()
				c.hidden = true
				return true
			}
			_ = dir.Close()
			dir = above
		}
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
				continue // it is gone
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
