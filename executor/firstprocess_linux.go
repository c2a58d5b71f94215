//go:build amd64 || arm64

package executor

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"time"

	"github.com/satchel-go/satchel/executor/reexec"
)

// firstProcess is the child of a Sandbox: the first process of the namespaces,
// of which the program is a child.
type firstProcess struct {
	*prepared
	later  func(func())
	strays *process // finds all others, where no namespace holds them

	told   bool // the program's end was reported
	status syscall.WaitStatus
	cpu    time.Duration
}

var _ child = (*firstProcess)(nil)

// String implements child.
func (f *firstProcess) String() string { return fmt.Sprintf("sandbox %d", f.proc.Pid) }

// awaitExit returns when the first process has reported the program's end, or
// has ended itself.
func (f *firstProcess) awaitExit() {
	kind, body, err := f.receive()
	if err != nil || kind != reexec.Exited || len(body) != 12 {
		return
	}
	f.told = true
	f.status = syscall.WaitStatus(binary.LittleEndian.Uint32(body))
	f.cpu = time.Duration(binary.LittleEndian.Uint64(body[4:])) * time.Microsecond
}

// terminate implements child.
func (f *firstProcess) terminate() { _, _ = f.control.Write([]byte{reexec.Terminate}) }

// killAll ends the first process. The kernel ends all others of its namespace
// before that is over.
func (f *firstProcess) killAll() error {
	_ = f.proc.Kill()
	if f.strays != nil {
		return f.strays.killAll()
	}
	return nil
}

// reap implements child.
func (f *firstProcess) reap() (ending, error) {
	state, err := f.proc.Wait()
	_ = f.control.Close()
	e := ending{code: codeKilled, signal: "SIGKILL", limited: true}
	if state != nil {
		e.cpu = state.UserTime() + state.SystemTime()
	}
	if f.told {
		e.code, e.signal = statusOf(f.status)
		e.cpu = max(e.cpu, f.cpu)
		e.policy = f.status.Signaled() && f.status.Signal() == syscall.SIGSYS
	}
	e.oom = f.group.oom()
	f.later(f.group.remove) // it takes a millisecond that nobody has to wait for
	return e, err
}

// pids implements child.
func (f *firstProcess) pids() []int {
	if f.strays != nil {
		return f.strays.pids()
	}
	return descendants(f.proc.Pid)
}

// boundsMemory implements child.
func (f *firstProcess) boundsMemory() bool { return f.group != nil && f.group.limits.Memory > 0 }
