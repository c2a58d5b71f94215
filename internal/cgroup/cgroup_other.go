//go:build !linux

package cgroup

import (
	"fmt"
	"os"
)

// Tree makes groups.
type Tree struct{}

// Group is the group of one run.
type Group struct{}

func unavailable() error { return fmt.Errorf("%w: not on this system", ErrUnavailable) }

// Open fails: only Linux has control groups.
func Open(string) (*Tree, error) { return nil, unavailable() }

// Has reports false for both.
func (*Tree) Has() (hasMemory, hasPids bool) { return false, false }

// Describe says that control groups are not available.
func (*Tree) Describe() string { return unavailable().Error() }

// New fails.
func (*Tree) New(Limits) (*Group, error) { return nil, unavailable() }

// Sweep does nothing.
func (*Tree) Sweep() error { return nil }

// Add fails.
func (*Group) Add(int) error { return unavailable() }

// Join fails.
func (*Group) Join() ([]*os.File, error) { return nil, unavailable() }

// Directory fails.
func (*Group) Directory() (*os.File, error) { return nil, unavailable() }

// Processes returns none.
func (*Group) Processes() []int { return nil }

// OOM reports false.
func (*Group) OOM() (bool, error) { return false, nil }

// Kill does nothing.
func (*Group) Kill() error { return nil }

// Remove does nothing.
func (*Group) Remove() error { return nil }
