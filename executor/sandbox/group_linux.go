//go:build amd64 || arm64

package sandbox

import (
	"os"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/linux/cgroup"
)

// group is the cgroup of one command. It is created while the sandbox is being built.
type group struct {
	limits  cgroup.Limits
	created chan struct{} // closed when cgroup or err is set
	cgroup  *cgroup.Group
	err     error
}

// newGroup begins to create a group. It returns nil if this machine has no cgroups to use.
func (s *Sandbox) newGroup(l executor.Limits) *group {
	if s.groups == nil {
		return nil
	}
	g := &group{limits: s.groupLimits(l), created: make(chan struct{})}
	go func() {
		defer close(g.created)
		g.cgroup, g.err = s.groups.New(g.limits)
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

// join waits for the group, and returns the files by which a process puts itself into it.
func (g *group) join() ([]*os.File, error) {
	if g == nil {
		return nil, nil
	}
	<-g.created
	if g.err != nil {
		return nil, g.err
	}
	return g.cgroup.Join()
}

// oom reports whether the kernel killed a process of the group for its memory.
func (g *group) oom() bool {
	if g == nil || g.cgroup == nil {
		return false
	}
	killed, err := g.cgroup.OOM()
	return err == nil && killed
}

// remove removes the group when no process is left in it. If that fails, the next Sandbox removes
// it.
func (g *group) remove() {
	if g == nil {
		return
	}
	<-g.created
	if g.cgroup != nil {
		_ = g.cgroup.Remove()
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
