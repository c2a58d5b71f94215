//go:build !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd

package cli

import "os"

// terminalColumns returns the width of a terminal, 0 where it is not known.
func terminalColumns(*os.File) int { return 0 }
