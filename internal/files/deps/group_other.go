//go:build !unix

package deps

import "os/exec"

// setGroup does nothing: on this system only the program itself is killed.
func setGroup(*exec.Cmd) {}
