//go:build !unix

package durable

import "os"

// Sync does nothing: these systems have no way to flush a directory, and NTFS
// journals its names.
func Sync(*os.Root, ...string) error { return nil }
