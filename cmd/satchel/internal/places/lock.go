package places

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// LockFile is the name of the file in the directory of the skills.
const LockFile = "satchel.lock"

// Lock is the content of a lock file; the names of its fields are stable.
type Lock struct {
	Version int           `json:"version"`
	Skills  []LockedSkill `json:"skills"` // sorted by name
}

// LockedSkill is one skill of a lock file.
type LockedSkill struct {
	Name string `json:"name"`
	// Source is where it was installed from, "" where that is not known.
	Source string `json:"source"`
	// Commit is that of a repository at a commit or a tag, "" for other sources.
	Commit string `json:"commit,omitempty"`
	// SHA256 is a digest of the paths and digests of all files, in hexadecimal.
	SHA256 string       `json:"sha256"`
	Files  []LockedFile `json:"files"` // sorted by path
}

// LockedFile is one file of a skill.
type LockedFile struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// LockOf returns the entry of a lock file for a skill of a catalog.
func LockOf(ctx context.Context, skills *catalog.Catalog, name, source string) (LockedSkill, error) {
	s := LockedSkill{Name: name, Source: source, Files: []LockedFile{}}
	files, more, err := skills.Files(ctx, name, 0)
	if err != nil {
		return s, err
	}
	if more {
		return s, fmt.Errorf("skill %q has more files than can be locked", name)
	}
	all := sha256.New()
	for _, path := range files {
		f := LockedFile{Path: path}
		if f.SHA256, f.Size, err = digest(ctx, skills, name, path); err != nil {
			return s, err
		}
		fmt.Fprintf(all, "%s  %s\n", f.SHA256, path)
		s.Files = append(s.Files, f)
	}
	s.SHA256 = hex.EncodeToString(all.Sum(nil))
	return s, nil
}

func digest(ctx context.Context, skills *catalog.Catalog, name, path string) (string, int64, error) {
	f, err := skills.OpenFile(ctx, name, path)
	if err != nil {
		return "", 0, err
	}
	h := sha256.New()
	size, err := io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, errors.Join(err, f.Close(), ctx.Err())
}

// ParseLock reads the text of a lock file. The error says what is wrong with it.
func ParseLock(data []byte) (*Lock, error) {
	var l Lock
	if err := json.Unmarshal(data, &l); err != nil {
		return nil, fmt.Errorf("%s: %w", LockFile, cli.JSONError(err))
	}
	if l.Version != 1 {
		return nil, fmt.Errorf("%s: version %d is not known", LockFile, l.Version)
	}
	seen := map[string]bool{}
	for _, s := range l.Skills {
		if s.Name == "" || seen[s.Name] {
			return nil, fmt.Errorf("%s: skill %q is there twice, or has no name", LockFile, s.Name)
		}
		seen[s.Name] = true
		for _, f := range s.Files {
			if !fs.ValidPath(f.Path) {
				return nil, fmt.Errorf("%s: skill %q: %q is no path in a skill", LockFile, s.Name, f.Path)
			}
		}
	}
	return &l, nil
}

// ReadLock reads the lock file of a directory. The error is fs.ErrNotExist where there is
// none.
func ReadLock(dir string) (*Lock, error) {
	data, err := readLockFile(filepath.Join(dir, LockFile))
	if err != nil {
		return nil, err
	}
	return ParseLock(data)
}

func readLockFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|plainfile.NonBlock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxLock+1))
	if err == nil && len(data) > maxLock {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxLock)
	}
	return data, err
}

// Write replaces the lock file of a directory as a whole.
func (l *Lock) Write(dir string) error {
	l.Version = 1
	slices.SortFunc(l.Skills, func(a, b LockedSkill) int { return strings.Compare(a.Name, b.Name) })
	if l.Skills == nil {
		l.Skills = []LockedSkill{}
	}
	data, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".satchel-lock-*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, LockFile))
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// Put adds a skill, or replaces the one of its name.
func (l *Lock) Put(s LockedSkill) {
	l.Skills = append(slices.DeleteFunc(l.Skills, func(old LockedSkill) bool { return old.Name == s.Name }), s)
}

// Find returns the skill of a name.
func (l *Lock) Find(name string) (LockedSkill, bool) {
	for _, s := range l.Skills {
		if s.Name == name {
			return s, true
		}
	}
	return LockedSkill{}, false
}

// Differences returns a line for each file of the skill that differs from the lock file.
func (l *Lock) Differences(now LockedSkill) []string {
	locked, ok := l.Find(now.Name)
	if !ok {
		return []string{fmt.Sprintf("skill %q is not in %s", now.Name, LockFile)}
	}
	had := make(map[string]LockedFile, len(locked.Files))
	for _, f := range locked.Files {
		had[f.Path] = f
	}
	var out []string
	for _, f := range now.Files {
		if had[f.Path] != f {
			out = append(out, fmt.Sprintf("skill %q: %s is not what %s has", now.Name, f.Path, LockFile))
		}
		delete(had, f.Path)
	}
	for _, f := range locked.Files {
		if _, missing := had[f.Path]; missing {
			out = append(out, fmt.Sprintf("skill %q: %s is missing, and %s has it", now.Name, f.Path, LockFile))
		}
	}
	return out
}
