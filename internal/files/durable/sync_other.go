//go:build !unix

package durable

import "os"

// Sync does nothing: these systems cannot flush a directory, and NTFS journals
// its names.
func Sync(*os.Root, ...string) error { return nil }
