// Package lookpath finds a program on a given PATH, not on the process's own.
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
	// ErrNotFound is wrapped when no file of that name is there.
	ErrNotFound = errors.New("not found")
	// ErrNotExecutable is wrapped when what is there cannot be executed.
	ErrNotExecutable = errors.New("not executable")
)

// Find returns the absolute path of the first executable regular file called
// name in the directories of path, in the form of the PATH variable. Entries
// that are empty or relative are passed over: they would depend on the current
// directory, which an untrusted command can fill. A name with a separator in it
// is not found. The error wraps ErrNotFound or ErrNotExecutable.
func Find(name, path string) (string, error) {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00"+string(filepath.Separator)) {
		return "", fmt.Errorf("%q: %w: it is not the bare name of a program", name, ErrNotFound)
	}
	result := error(nil)
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
			if errors.Is(err, ErrNotExecutable) && result == nil {
				result = err
			}
		}
	}
	if result != nil {
		return "", result
	}
	return "", fmt.Errorf("%q: %w on PATH", name, ErrNotFound)
}

// Executable reports why file cannot be executed: the error wraps ErrNotFound
// or ErrNotExecutable.
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

// endings lists what the file of a program may end in. On Windows batch files
// are left out: their arguments pass through a second, lossy parser.
func endings(name string) []string {
	if runtime.GOOS != "windows" {
		return []string{""}
	}
	if ext := strings.ToLower(filepath.Ext(name)); ext == ".exe" || ext == ".com" {
		return []string{""}
	}
	return []string{".exe", ".com"}
}
