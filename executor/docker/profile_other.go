//go:build !linux

package docker

import "errors"

// namespacesProfile returns an error: Open has returned one before.
func namespacesProfile() (string, error) { return "", errors.ErrUnsupported }
