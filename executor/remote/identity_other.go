//go:build !unix

package remote

import (
	"errors"
	"fmt"
)

// identityAt returns an error: this system has no numbers of directories that a runner sees too.
func identityAt(string) (dev, ino uint64, err error) {
	return 0, 0, fmt.Errorf("compare directories with a runner: %w", errors.ErrUnsupported)
}
