package places

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/satchel-go/satchel/internal/files/deps"
)

// PackagesDir returns the real path of the directory of installed packages. It returns "" if given is
// empty and the default directory is missing.
func PackagesDir(given string) (string, error) {
	if given != "" {
		if info, err := os.Stat(given); err != nil || !info.IsDir() {
			return "", fmt.Errorf("there is no directory %s: satchel deps --cache %[1]s DIR… installs the packages of skills there", given)
		}
		return resolvePath(given)
	}
	dir, err := deps.DefaultDir()
	if err != nil {
		return "", nil // the user has no directory for caches
	}
	if _, err := os.Stat(dir); err != nil {
		return "", nil
	}
	return resolvePath(dir)
}

// resolvePath returns a path that is absolute and leads through no links.
func resolvePath(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}
