//go:build !unix

package process

import "os"

// unread is not known here.
func unread(*os.File) bool { return false }
