package artifacts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/satchel-go/satchel/internal/durable"
)

// openSession is the directory of a session, held open so that all of a call
// happens in the same session even when it ends and starts again meanwhile.
type openSession struct {
	dir  *os.Root
	name string
	info fs.FileInfo // of dir, unique while it is open
}

// session opens the directory of a session; without one the error is
// fs.ErrNotExist.
func (d *Directory) session(name string) (*openSession, error) {
	dir, info, err := openDir(d.root, name)
	if err != nil {
		return nil, err
	}
	return &openSession{dir: dir, name: name, info: info}, nil
}

func (s *openSession) close() { s.dir.Close() }

// inPlace reports whether the session has not ended since it was opened.
func (d *Directory) inPlace(s *openSession) (bool, error) {
	return durable.InPlace(d.root, s.name, s.info)
}

func versionName(v int) string { return fmt.Sprintf("%020d", v) }

func parseVersion(digits string) (int, bool) {
	if len(digits) != 20 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	v, err := strconv.Atoi(digits)
	return v, err == nil
}

// versions returns the versions in the directory of a name, ascending. A name
// without a directory has none.
func (s *openSession) versions(name string) ([]int, error) {
	names, err := listNames(s.dir, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var versions []int
	for _, n := range names {
		if v, ok := parseVersion(n); ok {
			versions = append(versions, v)
		}
	}
	slices.Sort(versions)
	return versions, nil
}

// publish gives the version in temp the next number of its name.
func (s *openSession) publish(temp, name string) (int, error) {
	if err := s.dir.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return 0, err
	}
	taken, err := s.versions(name)
	if err != nil {
		return 0, err
	}
	next := 0
	if len(taken) > 0 {
		next = taken[len(taken)-1] + 1
	}
	for {
		err := durable.Place(s.dir, temp, name+"/"+versionName(next))
		if err == nil {
			return next, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return 0, err
		}
		next++ // somebody was faster
	}
}

// sweep removes versions that a crash left half written.
func (s *openSession) sweep() error {
	names, err := listNames(s.dir, ".")
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, newPrefix) && s.isOld(name) && s.isOld(name+"/"+contentName) {
			err = errors.Join(err, s.dir.RemoveAll(name))
		}
	}
	return err
}

// isOld reports whether name was last written long ago or does not exist.
func (s *openSession) isOld(name string) bool {
	info, err := s.dir.Lstat(name)
	return err != nil || time.Since(info.ModTime()) > leftoverAge
}
