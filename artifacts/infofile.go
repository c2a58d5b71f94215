package artifacts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/satchel-go/satchel/internal/files/durable"
)

// infoFile is the description of a version on disk. The number of the version is
// the name of its directory.
type infoFile struct {
	Name   string `json:"name"`
	MIME   string `json:"mime"`
	Size   int64  `json:"size"`
	Digest string `json:"digest"`
	// Created is missing in versions that were saved before times were recorded.
	Created time.Time `json:"created,omitzero"`
}

// readInfo reads the description of a version; name is the hash of its name. The error is
// [ErrDamaged] if the description cannot be trusted, and [ErrNotFound] if the version does not
// exist.
func (s *openSession) readInfo(name string, version int) (Info, error) {
	dir := name + "/" + versionName(version)
	if err := durable.CheckDir(s.dir, dir); errors.Is(err, fs.ErrNotExist) {
		return Info{}, ErrNotFound
	} else if err != nil {
		return Info{}, asDamaged(err)
	}
	data, err := durable.Read(s.dir, dir+"/"+infoName, maxInfo)
	if err != nil {
		return Info{}, asIncomplete(err)
	}
	var file infoFile
	if err := json.Unmarshal(data, &file); err != nil {
		return Info{}, fmt.Errorf("%w: description: %w", ErrDamaged, err)
	}
	info := Info{Ref: Ref{Name: file.Name, Version: version}, MIME: file.MIME, Size: file.Size, Digest: file.Digest, Created: file.Created.UTC()}
	if file.Created.IsZero() {
		if written, err := s.dir.Lstat(dir + "/" + infoName); err == nil {
			info.Created = written.ModTime().UTC().Truncate(time.Millisecond)
		}
	}
	if err := checkStored(info, name); err != nil {
		return Info{}, fmt.Errorf("%w: description: %w", ErrDamaged, err)
	}
	return info, nil
}

// checkStored checks a description that was read from disk.
func checkStored(info Info, hash string) error {
	if durable.Name(info.Name) != hash {
		return errors.New("belongs to another name")
	}
	if !durable.IsName(info.Digest) || info.Size < 0 {
		return fmt.Errorf("size %d, digest %.80q", info.Size, info.Digest)
	}
	return errors.Join(info.Check(), checkMIME(info.MIME))
}

// asIncomplete wraps the error of a missing file of a version in [ErrDamaged].
func asIncomplete(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return asDamaged(err)
}

// listNames returns the unsorted names in a directory. The error is [ErrDamaged] if name is no
// directory.
func listNames(root *os.Root, name string) ([]string, error) {
	names, err := durable.List(root, name)
	return names, asDamaged(err)
}

// asDamaged wraps the error of an unexpected kind of file in [ErrDamaged].
func asDamaged(err error) error {
	if errors.Is(err, durable.ErrIrregular) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}
