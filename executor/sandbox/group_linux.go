//go:build amd64 || arm64

package sandbox

import (
	"os"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/linux/cgroup"
)

// group is the cgroup of one command, made while its sandbox is being built.
type group struct {
	limits cgroup.Limits
	made   chan struct{}
	is     *cgroup.Group
	err    error
}

// newGroup begins to make a group; it returns nil where there are no groups.
func (s *Sandbox) newGroup(l executor.Limits) *group {
	if s.groups == nil {
		return nil
	}
	g := &group{limits: s.groupLimits(l), made: make(chan struct{})}
	go func() {
		defer close(g.made)
		g.is, g.err = s.groups.New(g.limits)
	}()
	return g
}

// groupLimits returns those limits that groups can enforce.
func (s *Sandbox) groupLimits(l executor.Limits) (limits cgroup.Limits) {
	memory, processes := s.groups.Has()
	if memory {
		limits.Memory = l.Memory
	}
	if processes && l.Processes > 0 {
		limits.Processes = int64(l.Processes) + firstThreads
	}
	return limits
}

// join returns the files by which a process puts itself into the group.
func (g *group) join() ([]*os.File, error) {
	if g == nil {
		return nil, nil
	}
	<-g.made
	if g.err != nil {
		return nil, g.err
	}
	return g.is.Join()
}

// oom reports whether the kernel killed a process of the group for its memory.
func (g *group) oom() bool {
	if g == nil || g.is == nil {
		return false
	}
	killed, err := g.is.OOM()
	return err == nil && killed
}

// remove removes the group when no process is left in it. What cannot be removed
// now is removed by the next Sandbox.
func (g *group) remove() {
	if g == nil {
		return
	}
	<-g.made
	if g.is != nil {
		_ = g.is.Remove()
	}
}

// boundsMemory reports whether groups bound the memory of commands.
func (s *Sandbox) boundsMemory() bool {
	if s.groups == nil {
		return false
	}
	memory, _ := s.groups.Has()
	return memory
}
