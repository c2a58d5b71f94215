package run

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/files/deps"
	"github.com/satchel-go/satchel/internal/files/workspace"
)

// searchPath returns the PATH of a command. Programs of packages and of what the
// host shows come before those of the system, unless names are compared with a
// list: in that case a name means the program of the system. The .venv of the
// skill is then left out too, because commands can write to it: a program that
// one puts there must not pass for an allowed one. For other privileged commands
// the .venv comes after the system's programs, for the same reason. The last directory is
// [workspace.LastPath]; at is where commands find the workspace.
func searchPath(own, at string, found deps.Found, visible []string, privileged, compared bool) string {
	const separator = string(filepath.ListSeparator)
	venv, system, _ := strings.Cut(own, separator)
	var programs []string
	for _, e := range found.Environments {
		programs = append(programs, e.Bin())
	}
	for _, dir := range visible {
		programs = append(programs, programsOf(dir))
	}
	programs = slices.DeleteFunc(programs, func(dir string) bool { return strings.Contains(dir, separator) })
	var all []string
	switch {
	case compared:
		all = append([]string{system}, programs...)
	case privileged:
		all = append(programs, system, venv)
	default:
		all = append(append([]string{venv}, programs...), system)
	}
	if last := workspace.LastPath(at); last != "" {
		all = append(all, last)
	}
	return strings.Join(all, separator)
}

// programsOf returns the subdirectory of a directory that holds its programs.
func programsOf(dir string) string {
	switch filepath.Base(dir) {
	case "bin":
		return dir
	case "node_modules":
		return filepath.Join(dir, ".bin")
	}
	return filepath.Join(dir, "bin")
}
