package artifacts

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// infoFile is the description of a version on disk; the version is the name of
// its directory.
type infoFile struct {
	Name   string `json:"name"`
	MIME   string `json:"mime"`
	Size   int64  `json:"size"`
	Digest string `json:"digest"`
}

// maxInfo bounds a description in bytes: a name and a type, each byte of which
// JSON may write as six.
const maxInfo = 16 << 10

// readInfo reads the description of a version of the name with that hash. One
// that cannot be trusted is [ErrDamaged], a version without a directory
// [ErrNotFound].
func (s *openSession) readInfo(name string, version int) (Info, error) {
	dir := name + "/" + versionName(version)
	there, err := s.dir.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Info{}, ErrNotFound
	}
	if err != nil {
		return Info{}, err
	}
	if !there.IsDir() {
		return Info{}, irregular(dir, there)
	}
	f, size, err := openRegular(s.dir, dir+"/"+infoName)
	if err != nil {
		return Info{}, incomplete(err)
	}
	defer f.Close()
	if size > maxInfo {
		return Info{}, fmt.Errorf("%w: description of %d bytes", ErrDamaged, size)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxInfo))
	if err != nil {
		return Info{}, err
	}
	var file infoFile
	if err := json.Unmarshal(data, &file); err != nil {
		return Info{}, fmt.Errorf("%w: description: %w", ErrDamaged, err)
	}
	info := Info{Ref: Ref{Name: file.Name, Version: version}, MIME: file.MIME, Size: file.Size, Digest: file.Digest}
	if err := checkStored(info, name); err != nil {
		return Info{}, fmt.Errorf("%w: description: %w", ErrDamaged, err)
	}
	return info, nil
}

func checkStored(info Info, hash string) error {
	if hashName(info.Name) != hash {
		return errors.New("belongs to another name")
	}
	if _, err := hex.DecodeString(info.Digest); err != nil || !isHashName(info.Digest) || info.Size < 0 {
		return fmt.Errorf("size %d, digest %.80q", info.Size, info.Digest)
	}
	return errors.Join(CheckName(info.Name), checkMIME(info.MIME))
}

// incomplete says that a version without a file is damaged.
func incomplete(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// openRegular opens a plain file and returns its size. Pipes, devices and links
// are [ErrDamaged] and are not read.
func openRegular(root *os.Root, name string) (*os.File, int64, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, irregular(name, info)
	}
	f, err := root.OpenFile(name, openFlags, 0)
	if err != nil {
		return nil, 0, err
	}
	// Once more on the open file: the name may mean something else by now.
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = irregular(name, info)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

func irregular(name string, info fs.FileInfo) error {
	return fmt.Errorf("%w: %q has the type %v", ErrDamaged, name, info.Mode().Type())
}

// openDir opens a directory. What is not one is [ErrDamaged].
func openDir(root *os.Root, name string) (*os.Root, fs.FileInfo, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.IsDir() {
		return nil, nil, irregular(name, info)
	}
	dir, err := root.OpenRoot(name)
	if err != nil {
		return nil, nil, err
	}
	if info, err = dir.Stat("."); err != nil {
		return nil, nil, errors.Join(err, dir.Close())
	}
	return dir, info, nil
}

// listNames returns the names in a directory in no order. What is not a
// directory is [ErrDamaged].
func listNames(root *os.Root, name string) ([]string, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, irregular(name, info)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}
