package source

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

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// TrustFile is the path of a file with the projects that a user trusts. For each it has the
// resolved path and the identity of the folder. A file that does not exist has no projects. Each
// call reads the file.
type TrustFile string

// trustedProject is one project in the file. Its JSON keys are stable.
type trustedProject struct {
	Path  string    `json:"path"` // resolved
	ID    string    `json:"id"`   // of the folder: another folder at the path is not trusted
	Since time.Time `json:"since"`
}

// Trusts reports whether the directory of a root, after all links, is in a trusted project. Pass
// it to catalog.WithTrust. The error says that the file or the directory cannot be read.
func (t TrustFile) Trusts(_ context.Context, root Root) (bool, error) {
	all, err := t.load()
	if err != nil || len(all) == 0 || root.isNamed() {
		return false, err
	}
	path, err := scan.Resolved(root.path)
	if err != nil {
		return false, err
	}
	for _, p := range all {
		if !scan.IsBelow(path, p.Path) {
			continue
		}
		if id, err := folderID(p.Path); err == nil && id == p.ID {
			return true, nil
		}
	}
	return false, nil
}

// Add adds the project in dir to the file, and returns its resolved path.
func (t TrustFile) Add(dir string) (string, error) {
	path, err := scan.Resolved(dir)
	if err != nil {
		return "", fmt.Errorf("source: trust: %w", err)
	}
	id, err := folderID(path)
	if err != nil {
		return "", fmt.Errorf("source: trust: %w", err)
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

func (t TrustFile) load() ([]trustedProject, error) {
	f, err := os.OpenFile(string(t), os.O_RDONLY|plainfile.NonBlock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("source: trusted projects: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = scan.CheckRegular(info, maxTrustFile)
	}
	if err != nil {
		return nil, fmt.Errorf("source: trusted projects: %s: %w", string(t), err)
	}
	data, err := scan.ReadAll(f, info.Size(), maxTrustFile)
	if err != nil {
		return nil, fmt.Errorf("source: trusted projects: %s: %w", string(t), err)
	}
	var all []trustedProject
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("source: trusted projects: %s: %w", string(t), err)
	}
	return all, nil
}

// save replaces the file as a whole; no other user can read it.
func (t TrustFile) save(data []byte) error {
	dir := filepath.Dir(string(t))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("source: trust: %w", err)
	}
	f, err := os.CreateTemp(dir, ".trust-*")
	if err != nil {
		return fmt.Errorf("source: trust: %w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), string(t))
	}
	if err != nil {
		err = fmt.Errorf("source: trust: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return err
}

// folderID returns the identity of a folder. Another folder at the same path has another one.
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
