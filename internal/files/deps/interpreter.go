package deps

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/satchel-go/satchel/internal/files/workspace"
)

// interpreter is a program of the system that runs scripts.
type interpreter struct {
	path    string // absolute, with links resolved
	version string // as the program prints it
}

// interpreters caches the versions of programs until their files change.
type interpreters struct {
	mu    sync.Mutex
	known map[string]knownVersion
}

type knownVersion struct {
	used interpreter
	size int64
	time time.Time
}

// find looks for a program on the PATH of commands, and runs it to get its version.
func (is *interpreters) find(ctx context.Context, program string, version []string) (interpreter, error) {
	at, info, err := systemProgram(program)
	if err != nil {
		return interpreter{}, err
	}
	path, err := filepath.EvalSymlinks(at)
	if err != nil {
		return interpreter{}, err
	}
	is.mu.Lock()
	k, ok := is.known[path]
	is.mu.Unlock()
	if ok && k.size == info.Size() && k.time.Equal(info.ModTime()) {
		return k.used, nil
	}
	cmd := exec.CommandContext(ctx, path, version...) //nolint:gosec // an interpreter from the system's PATH
	cmd.Env = []string{"PATH=" + workspace.SystemPath, "LANG=C.UTF-8"}
	cmd.WaitDelay = versionWait
	out, err := cmd.Output()
	if err != nil {
		return interpreter{}, fmt.Errorf("%s: its version: %w", path, err)
	}
	used := interpreter{path: path, version: strings.Join(strings.Fields(string(out)), " ")}
	is.mu.Lock()
	defer is.mu.Unlock()
	if is.known == nil {
		is.known = map[string]knownVersion{}
	}
	is.known[path] = knownVersion{used, info.Size(), info.ModTime()}
	return used, nil
}

// systemProgram looks for a program on the PATH of commands, not of this process.
func systemProgram(name string) (string, fs.FileInfo, error) {
	for _, dir := range filepath.SplitList(workspace.SystemPath) {
		at := filepath.Join(dir, name)
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return at, info, nil
		}
	}
	return "", nil, fmt.Errorf("%s is not installed in a directory of the system (%s)", name, workspace.SystemPath)
}
