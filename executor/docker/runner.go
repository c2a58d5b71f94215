package docker

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/moby/moby/api/types/mount"
)

// runnerEnv names the variable with the path of the runner.
const runnerEnv = "SATCHEL_RUNNER"

// runnerName is the name of the runner beside this program.
const runnerName = "satchel-runner"

// findRunner sets the path of the runner in containers, and shows that of this machine if there is
// one.
func (c *carrier) findRunner(ctx context.Context) error {
	path, err := runnerHere(c.runner)
	if err != nil {
		return err
	}
	if path != "" {
		c.program, c.shown = runnerAt, append(c.shown, bind(path, runnerAt, true))
		return nil
	}
	c.program, err = c.engine.runnerOf(ctx, c.image, c.self)
	if err == nil && c.program == "" {
		err = failure(fs.ErrNotExist, "no runner: %s is not beside this program, not in $%s and not in the image: build cmd/satchel-runner with CGO_ENABLED=0, and name its path", runnerName, runnerEnv)
	}
	return err
}

// runnerHere returns the resolved path of the runner on this machine, or "" if none is named and
// none is beside this program.
func runnerHere(path string) (string, error) {
	from := "option"
	if path == "" {
		path, from = os.Getenv(runnerEnv), "$"+runnerEnv
	}
	named := path != ""
	if !named {
		self, err := os.Executable()
		if err != nil {
			return "", nil
		}
		path = filepath.Join(filepath.Dir(self), runnerName)
	}
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if !named && errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", failure(err, "no runner: %s: %v", from, err)
	}
	info, err := os.Stat(path) //nolint:gosec // the caller names it
	switch {
	case err != nil:
		return "", failure(err, "no runner: %v", err)
	case !info.Mode().IsRegular():
		return "", failure(nil, "no runner: %s is no file", path)
	case info.Mode()&0o005 != 0o005 && runtime.GOOS != "windows":
		return "", failure(nil, "no runner: %s: others may not execute it: chmod 755 %[1]s", path)
	}
	return path, nil
}

// readableMounts returns the mounts of WithReadable. The engine gets paths without links.
func readableMounts(dirs []string) (list []mount.Mount, err error) {
	for _, dir := range dirs {
		path, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, failure(err, "readable directory: %v", err)
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			return nil, failure(err, "readable directory %s is no directory", dir)
		}
		list = append(list, bind(path, dir, true))
	}
	return list, nil
}
