package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// hostDir is a directory of the host from which inputs may come.
type hostDir struct {
	given string // as the host wrote it, but cleaned
	real  string // with links resolved
}

// resolveHostDirs checks that the directories exist.
func resolveHostDirs(dirs []string) ([]hostDir, error) {
	var all []hostDir
	for _, dir := range dirs {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, fmt.Errorf("host directory %q: %w", dir, err)
		}
		info, err := os.Stat(real)
		if err != nil {
			return nil, fmt.Errorf("host directory %q: %w", dir, err)
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("host directory %q: %w: it is %s", dir, ErrNotRegular, plainfile.Kind(info.Mode()))
		}
		all = append(all, hostDir{given: filepath.Clean(dir), real: real})
	}
	return all, nil
}

// openHost opens the allowed directory that contains an absolute path, and
// returns the rest of the path. The caller closes the directory. If allowed
// directories are nested, the innermost counts: links must not leave it.
func (w *Workspaces) openHost(slashed string) (*os.Root, string, error) {
	wanted := filepath.FromSlash(slashed)
	best, bestRel := "", ""
	for _, dir := range w.hosts {
		for _, form := range []string{dir.given, dir.real} {
			rel, err := filepath.Rel(form, wanted)
			if err == nil && filepath.IsLocal(rel) && len(dir.real) > len(best) {
				best, bestRel = dir.real, rel
			}
		}
	}
	if best == "" {
		return nil, "", w.hostRefused()
	}
	root, err := os.OpenRoot(best)
	if err != nil {
		return nil, "", cause(err)
	}
	return root, filepath.ToSlash(bestRel), nil
}

func (w *Workspaces) hostRefused() error {
	if len(w.hosts) == 0 {
		return fmt.Errorf("%w: files of the host are not enabled", ErrSource)
	}
	var allowed []string
	for _, dir := range w.hosts {
		allowed = append(allowed, fmt.Sprintf("%q", dir.given))
	}
	return fmt.Errorf("%w: files of the host must be below %s", ErrSource, strings.Join(allowed, " or "))
}
