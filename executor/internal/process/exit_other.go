//go:build !unix

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/satchel-go/satchel/executor"
)

// ExitStatus returns the exit code. This system has no signals.
func ExitStatus(state *os.ProcessState) (int, string) { return state.ExitCode(), "" }

// Refused returns the result for an error in starting a program, if the command caused it. It
// returns false for errors of the host.
func Refused(name string, err error) (executor.Result, bool) {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return NeverRan(126, fmt.Sprintf("%q: not executable", name)), true
	}
	return executor.Result{}, false
}

// Shadows returns nothing: on this system children inherit only the streams.
func Shadows() []*os.File { return nil }
