package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/text/shellcmd"
	"github.com/satchel-go/satchel/internal/text/shellcmd/lookpath"
)

// check checks a command against the policy and looks up its program where the command will run.
func (p *program) check(ctx context.Context, command, search string) (shellcmd.Simple, error) {
	last := workspace.LastPath(p.at.path(""))
	if finder, ok := p.executor.(executor.Finder); ok {
		return p.policy.check(command, remotePrograms{ctx, finder, search, last})
	}
	// In this process, the last directory of search may have another path and is a symlink.
	onHost := workspace.LastPath(p.place.Path())
	if rest, ok := strings.CutSuffix(search, last); ok {
		search = rest + onHost
	}
	simple, err := p.policy.check(command, shellcmd.OnPath(search))
	if err == nil && onHost != "" && filepath.Dir(simple.Path) == onHost {
		simple.Path, err = filepath.EvalSymlinks(simple.Path)
	}
	return simple, err
}

// remotePrograms are the programs of a machine or container that an executor.Finder knows.
type remotePrograms struct {
	ctx    context.Context
	finder executor.Finder
	search string // the PATH
	links  string // the directory of workspace.LastPath, or ""
}

// Find implements shellcmd.Programs.
func (r remotePrograms) Find(name string) (string, error) {
	file, err := r.finder.Find(r.ctx, name, r.search)
	if err == nil && r.links != "" && filepath.Dir(file) == r.links { // a link to python3, which commands may not follow
		file, err = r.finder.Find(r.ctx, "python3", workspace.SystemPath)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%q: %w on PATH", name, lookpath.ErrNotFound)
	}
	return file, err
}

// Same implements shellcmd.Programs. Only the paths are compared.
func (r remotePrograms) Same(a, b string) bool { return a == b }
