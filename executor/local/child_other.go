//go:build !unix

package local

import (
	"fmt"
	"os"

	"github.com/satchel-go/satchel/executor"
)

func (l *Local) startChild(program string, cmd executor.Command, files []*os.File, _ bool) (*child, error) {
	if len(cmd.Pipes) > 0 {
		return nil, fmt.Errorf("%w: no pipes beside the streams on this system", executor.ErrCommand)
	}
	proc, err := os.StartProcess(program, cmd.Args, &os.ProcAttr{Dir: cmd.HostPath(cmd.Dir), Env: cmd.Environ(), Files: files})
	if err != nil {
		return nil, err
	}
	return &child{proc: proc}, nil
}

// Terminate implements process.Child. It does nothing: this system has no signal that asks a
// program to end.
func (c *child) Terminate() {}

// KillAll implements process.Child.
func (c *child) KillAll() error {
	_ = c.proc.Kill()
	return nil
}

func platformCapabilities(bool) executor.Capabilities {
	none := executor.Capability{Note: "not on this system"}
	return executor.Capabilities{
		Memory: none, CPU: none, FileBytes: none, Pipes: none, KillTree: none, DiesWithHost: none,
		KillGroup:   executor.Capability{Note: "only the program itself is killed"},
		Descriptors: executor.Capability{Enforced: true, Note: "only the streams are inherited"},
	}
}
