//go:build !unix

package process

import "os"

// hasUnread returns false: this system does not report it.
func hasUnread(*os.File) bool { return false }
