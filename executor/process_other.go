//go:build !unix

package executor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

func (l *Local) startProcess(program string, cmd Command, files []*os.File, _ bool) (*process, error) {
	proc, err := os.StartProcess(program, cmd.Args, &os.ProcAttr{Dir: cmd.Dir, Env: cmd.environment(), Files: files})
	if err != nil {
		return nil, err
	}
	return &process{proc: proc}, nil
}

// terminate does nothing: there is no signal that asks.
func (c *process) terminate() {}

func (c *process) killAll() error {
	_ = c.proc.Kill()
	return nil
}

func exitStatus(state *os.ProcessState) (int, string) { return state.ExitCode(), "" }

func refused(name string, err error) (Result, bool) {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return neverRan(126, fmt.Sprintf("%q: not executable", name)), true
	}
	return Result{}, false
}

// shadows returns nothing: only the streams are inherited here.
func shadows() []*os.File { return nil }

func platformCapabilities(bool) Capabilities {
	none := Capability{Note: "not on this system"}
	return Capabilities{
		Memory: none, CPU: none, FileBytes: none, KillTree: none, DiesWithHost: none,
		KillGroup:   Capability{Note: "only the program itself is killed"},
		Descriptors: Capability{true, "only the streams are inherited"},
	}
}
