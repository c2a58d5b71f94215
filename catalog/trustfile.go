package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// maxTrustFile bounds a file of trusted projects, in bytes.
const maxTrustFile = 1 << 20

// TrustedProjects are the projects that a file names as trusted. Make one with
// [TrustFile].
type TrustedProjects struct{ path string }

// trustedProject is one of them; the names of its fields are stable.
type trustedProject struct {
	Path  string    `json:"path"` // resolved
	ID    string    `json:"id"`   // of the folder, so that another one at the path is not meant
	Since time.Time `json:"since"`
}

// TrustFile returns the projects that a file names as trusted, by their resolved paths
// and the identity of their folders. A file that does not exist names none. It is read
// whenever it is asked.
func TrustFile(path string) *TrustedProjects { return &TrustedProjects{path} }

// Trusts reports whether a root belongs to a trusted project and lies in it, links
// resolved; it is for [WithTrust]. The error says that the file cannot be read.
func (t *TrustedProjects) Trusts(_ context.Context, root Root) (bool, error) {
	all, err := t.load()
	if err != nil || len(all) == 0 || root.isNamed() {
		return false, err
	}
	path, err := resolved(root.path)
	if err != nil {
		return false, err
	}
	for _, p := range all {
		if !isBelow(path, p.Path) {
			continue
		}
		if id, err := folderID(p.Path); err == nil && id == p.ID {
			return true, nil
		}
	}
	return false, nil
}

// Add trusts the project in dir from now on, and returns its resolved path.
func (t *TrustedProjects) Add(dir string) (string, error) {
	path, err := resolved(dir)
	if err != nil {
		return "", fmt.Errorf("catalog: trust: %w", err)
	}
	id, err := folderID(path)
	if err != nil {
		return "", fmt.Errorf("catalog: trust: %w", err)
	}
	all, err := t.load()
	if err != nil {
		return "", err
	}
	all = slices.DeleteFunc(all, func(p trustedProject) bool { return p.Path == path })
	all = append(all, trustedProject{path, id, time.Now().UTC().Truncate(time.Second)})
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return "", err
	}
	return path, t.save(append(data, '\n'))
}

func (t *TrustedProjects) load() ([]trustedProject, error) {
	f, err := os.OpenFile(t.path, os.O_RDONLY|plainfile.NonBlock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("catalog: trusted projects: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = checkRegular(info, maxTrustFile)
	}
	if err != nil {
		return nil, fmt.Errorf("catalog: trusted projects: %s: %w", t.path, err)
	}
	data, err := readAll(f, info.Size(), maxTrustFile)
	if err != nil {
		return nil, fmt.Errorf("catalog: trusted projects: %s: %w", t.path, err)
	}
	var all []trustedProject
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("catalog: trusted projects: %s: %w", t.path, err)
	}
	return all, nil
}

// save replaces the file as a whole; no other user can read it.
func (t *TrustedProjects) save(data []byte) error {
	dir := filepath.Dir(t.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("catalog: trust: %w", err)
	}
	f, err := os.CreateTemp(dir, ".trust-*")
	if err != nil {
		return fmt.Errorf("catalog: trust: %w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), t.path)
	}
	if err != nil {
		err = fmt.Errorf("catalog: trust: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return err
}

// folderID identifies a folder: another one at its path has another id.
func folderID(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", path)
	}
	return plainfile.Identity(path, info)
}
