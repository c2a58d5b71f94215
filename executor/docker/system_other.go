//go:build !linux

package docker

import (
	"errors"

	"github.com/satchel-go/satchel/executor/remote"
)

// The functions below are never called: Open has returned an error.

type user struct{ in, mode string }

func userOf(*engine, bool) (user, error) { return user{}, errors.ErrUnsupported }

func (user) close() {}

func maxProcesses() uint64 { return 0 }

type space struct{ source string }

func openSpace(remote.Job, user) (*space, error) { return nil, errors.ErrUnsupported }

func (*space) close() error { return nil }

func sweepMounts(instance) error { return nil }

func sweepTemp(string, instance) error { return nil }
