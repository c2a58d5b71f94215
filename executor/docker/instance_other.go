//go:build !linux

package docker

import "errors"

// thisInstance returns an error: Open has returned one before.
func thisInstance() (instance, error) { return instance{}, errors.ErrUnsupported }

// isAlive says that every process runs, so that no container is removed for it.
func isAlive(int, uint64) bool { return true }
