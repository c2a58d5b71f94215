package artifacts

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/satchel-go/satchel/internal/files/durable"
)

// openSession is the open directory of a session. While a call has it open, all its reads and
// writes happen in that session, even if it ends and begins again meanwhile.
type openSession struct {
	dir  *os.Root
	name string
	info fs.FileInfo // of dir, unique while it is open
}

// openSessionDir opens the directory of a session. The error is fs.ErrNotExist if there is
// none.
func (d *Directory) openSessionDir(name string) (*openSession, error) {
	dir, info, err := durable.OpenDir(d.root, name)
	if err != nil {
		return nil, asDamaged(err)
	}
	return &openSession{dir: dir, name: name, info: info}, nil
}

func (s *openSession) close() { s.dir.Close() }

// inPlace reports whether the open directory is still that of the session.
func (d *Directory) inPlace(s *openSession) (bool, error) {
	return durable.InPlace(d.root, s.name, s.info)
}

func versionName(v int) string { return durable.VersionName(int64(v)) }

// versions returns the versions of a name, ascending. A name without a directory has none.
func (s *openSession) versions(name string) ([]int, error) {
	names, err := listNames(s.dir, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var versions []int
	for _, n := range names {
		if v, ok := durable.ParseVersion(n); ok {
			versions = append(versions, int(v))
		}
	}
	slices.Sort(versions)
	return versions, nil
}

// nextVersion returns the number after the highest that a present or removed version has.
func (s *openSession) nextVersion(name string) (int, error) {
	names, err := listNames(s.dir, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	next := 0
	for _, n := range names {
		if v, ok := durable.ParseVersion(strings.TrimSuffix(n, removedSuffix)); ok && int(v) >= next {
			next = int(v) + 1
		}
	}
	return next, nil
}

// publish moves the version in temp to its place, under the next number of its name.
func (s *openSession) publish(temp, name string) (int, error) {
	if err := s.dir.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return 0, err
	}
	next, err := s.nextVersion(name)
	if err != nil {
		return 0, err
	}
	for {
		err := durable.Place(s.dir, temp, name+"/"+versionName(next))
		if err == nil {
			return next, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return 0, err
		}
		next++ // another Save was faster
	}
}

// sweep removes half-written versions that a crash left.
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

// isOld reports whether name is older than leftoverAge or does not exist.
func (s *openSession) isOld(name string) bool {
	info, err := s.dir.Lstat(name)
	return err != nil || time.Since(info.ModTime()) > leftoverAge
}
