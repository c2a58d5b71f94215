package process

import (
	"fmt"
	"path/filepath"
)

// CheckReadable returns an error that wraps ErrOption if a directory of an option WithReadable is not a clean
// absolute path.
func CheckReadable(dirs []string) error {
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
			return fmt.Errorf("%w: readable directory %q is not a clean absolute path", ErrOption, dir)
		}
	}
	return nil
}
