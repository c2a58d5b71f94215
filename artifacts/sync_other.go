//go:build !unix

package artifacts

import "os"

const openFlags = os.O_RDONLY

// syncDir does nothing: these systems have no way to flush a directory, and
// NTFS journals its names.
func syncDir(*os.Root, string) error { return nil }
