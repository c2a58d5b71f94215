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
	path    string // absolute, without links
	version string // as the program prints it
}

// interpreters remembers the version of a program while its file is the same.
type interpreters struct {
	mu    sync.Mutex
	known map[string]knownVersion
}

type knownVersion struct {
	used interpreter
	size int64
	time time.Time
}

// find finds a program where commands find it, and asks it for its version.
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
	cmd.WaitDelay = time.Second
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

// systemProgram finds a program in the directories of the system, which commands
// see, whatever the PATH of this process says.
func systemProgram(name string) (string, fs.FileInfo, error) {
	for _, dir := range filepath.SplitList(workspace.SystemPath) {
		at := filepath.Join(dir, name)
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return at, info, nil
		}
	}
	return "", nil, fmt.Errorf("%s is not installed in a directory of the system (%s)", name, workspace.SystemPath)
}
