//go:build !unix

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/satchel-go/satchel/executor"
)

// ExitStatus returns the exit code; there are no signals here.
func ExitStatus(state *os.ProcessState) (int, string) { return state.ExitCode(), "" }

// Refused returns the result for a program that the system would not execute
// because of the command itself. It returns false for other errors, which are the
// host's.
func Refused(name string, err error) (executor.Result, bool) {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return NeverRan(126, fmt.Sprintf("%q: not executable", name)), true
	}
	return executor.Result{}, false
}

// Shadows returns nothing: only the streams are inherited here.
func Shadows() []*os.File { return nil }
