//go:build !unix

package catalog

// Systems without named pipes in the file system have nothing to wait for.
const (
	openNonblock  = 0
	openDirectory = 0
)
