// Package lookpath finds a program on a PATH that the caller passes, not on that of the process.
package lookpath

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

var (
	// ErrNotFound is wrapped if there is no file of that name.
	ErrNotFound = errors.New("not found")
	// ErrNotExecutable is wrapped if the file cannot be executed.
	ErrNotExecutable = errors.New("not executable")
)

// Find returns the absolute path of the first executable regular file called name
// in the directories of path, which has the form of the PATH variable. It skips
// empty and relative entries, because they depend on the current directory, which
// an untrusted command can fill. A name that contains a separator is not found.
// The error wraps ErrNotFound or ErrNotExecutable.
func Find(name, path string) (string, error) {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00"+string(filepath.Separator)) {
		return "", fmt.Errorf("%q: %w: it is not the bare name of a program", name, ErrNotFound)
	}
	var notExecutable error
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, ending := range endings(name) {
			file := filepath.Join(dir, name+ending)
			err := Executable(file)
			if err == nil {
				return file, nil
			}
			if errors.Is(err, ErrNotExecutable) && notExecutable == nil {
				notExecutable = err
			}
		}
	}
	if notExecutable != nil {
		return "", notExecutable
	}
	return "", fmt.Errorf("%q: %w on PATH", name, ErrNotFound)
}

// Executable returns nil if file can be executed. Otherwise the error wraps
// ErrNotFound or ErrNotExecutable.
func Executable(file string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%q: %w: permission denied", file, ErrNotExecutable)
	case err != nil:
		return fmt.Errorf("%q: %w", file, ErrNotFound)
	case info.IsDir():
		return fmt.Errorf("%q: %w: it is a directory", file, ErrNotExecutable)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%q: %w: it is not a regular file", file, ErrNotExecutable)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("%q: %w: no permission to execute it", file, ErrNotExecutable)
	}
	return nil
}

// endings returns the extensions to try for a program's name. On Windows it leaves out batch
// files, because cmd.exe parses their arguments in a way that cannot be quoted safely.
func endings(name string) []string {
	if runtime.GOOS != "windows" {
		return []string{""}
	}
	if ext := strings.ToLower(filepath.Ext(name)); ext == ".exe" || ext == ".com" {
		return []string{""}
	}
	return []string{".exe", ".com"}
}
