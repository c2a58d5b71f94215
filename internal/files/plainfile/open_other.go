//go:build !unix

package plainfile

// Systems without named pipes in the file system have nothing to wait for.
const (
	NonBlock      = 0
	DirectoryOnly = 0
)
