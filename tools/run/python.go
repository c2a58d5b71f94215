package run

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/text/shellcmd/lookpath"
)

// systemPackages returns the function that finds the packages directory of a virtual environment.
// The function returns "" if they are for another version than the Python where commands run,
// which python3 means if names are compared with a list.
func (st *staging) systemPackages(ctx context.Context) func(dir string) string {
	if finder, ok := st.runner.Executor.(executor.Finder); ok {
		return func(dir string) string { return packagesOf(dir, remotePython(ctx, finder, dir)) }
	}
	return func(dir string) string { return packagesOf(dir, systemPython()) }
}

// packagesOf returns the packages directory of a virtual environment for a version of Python, such
// as python3.11. It returns "" if the environment has none.
func packagesOf(dir, python string) string {
	packages := filepath.Join(dir, "lib", python, "site-packages")
	for _, file := range []string{filepath.Join(dir, "pyvenv.cfg"), packages} {
		if _, err := os.Stat(file); err != nil {
			return ""
		}
	}
	if python == "" || strings.ContainsRune(packages, filepath.ListSeparator) {
		return ""
	}
	return packages
}

// systemPython returns the name of this machine's Python with its version, such as python3.11, or
// "".
func systemPython() string {
	python, err := lookpath.Find("python3", workspace.SystemPath)
	if err == nil {
		python, err = filepath.EvalSymlinks(python) // /usr/bin/python3.11
	}
	if err != nil {
		return ""
	}
	return filepath.Base(python)
}

// remotePython returns the Python of a virtual environment if a program of that name is where
// commands run, or "".
func remotePython(ctx context.Context, finder executor.Finder, dir string) string {
	found, err := filepath.Glob(filepath.Join(dir, "lib", "python3*"))
	if err != nil || len(found) != 1 {
		return ""
	}
	python := filepath.Base(found[0])
	if _, err := finder.Find(ctx, python, workspace.SystemPath); err != nil {
		return ""
	}
	return python
}
