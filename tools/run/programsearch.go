package run

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/engine/needs"
	"github.com/satchel-go/satchel/internal/files/deps"
	"github.com/satchel-go/satchel/internal/files/workspace"
)

var _ needs.Machine = (*Runner)(nil)

// System returns the system on which commands run, by the name of Go. An executor.Finder runs them
// in Linux containers.
func (r *Runner) System() string {
	if _, ok := r.Executor.(executor.Finder); ok {
		return "linux"
	}
	return runtime.GOOS
}

// SearchPath returns the PATH of a skill's commands, without the directories of their workspace.
func (r *Runner) SearchPath(ctx context.Context, skill core.Skill, from *catalog.Catalog) (string, error) {
	var found deps.Status
	if r.installed != nil && skill.Scope != core.ScopeRemote { // files of remote skills are fetched when they are used
		var err error
		if found, err = findDependencies(ctx, r.installed, skill.ID, from, &notes{}); err != nil {
			return "", err
		}
	}
	return strings.Join(append([]string{workspace.SystemPath}, programDirs(found, reachOf(r).visible)...), string(filepath.ListSeparator)), nil
}

// FindPrograms looks for programs where commands run, in one command or by executor.Finder. wanted
// has their names by PATH, and found those that exist. If no command can run, the error says why.
func (r *Runner) FindPrograms(ctx context.Context, wanted map[string][]string) (found map[string][]string, err error) {
	if why := r.Executor.Capabilities().Unavailable; why != "" {
		return nil, fmt.Errorf("%w: %s", executor.ErrSetup, why)
	}
	if finder, ok := r.Executor.(executor.Finder); ok {
		return findOneByOne(ctx, finder, wanted)
	}
	session := probeSession + rand.Text()
	place, err := r.workspace(ctx, session)
	if err != nil {
		return nil, err
	}
	defer func() {
		place.Release()
		_ = r.Workspaces.End(session) // what remains is removed with all workspaces
	}()
	at, err := workspace.SeenAt(r.Executor.Capabilities().WorkspaceAt, place)
	if err != nil {
		return nil, err
	}
	input, searches := probeInput(wanted, workspace.LastPath(at))
	limits := r.Limits
	limits.Output = int64(len(searches))*maxProbeLine + 1
	result, err := r.Executor.Run(ctx, executor.Command{
		Args: []string{"sh", "-c", probeScript}, Env: workspace.Env(at, "", ""), Stdin: input, Limits: limits,
		Workspace: place.Path(), Skills: "skills",
	})
	if err != nil {
		return nil, err
	}
	if result.Reason != executor.ReasonExit || result.ExitCode != 0 {
		return nil, fmt.Errorf("%w: the command that looks for programs ended with %s, exit code %d: %.200s", executor.ErrSetup, result.Reason, result.ExitCode, result.Stderr)
	}
	found = map[string][]string{}
	for line := range strings.Lines(result.Stdout.String()) {
		if n, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && n > 0 && n <= len(searches) {
			path, name := searches[n-1][0], searches[n-1][1]
			found[path] = append(found[path], name)
		}
	}
	return found, nil
}

// probeInput returns the input of probeScript, and the PATH and the name that each number in its
// output means. last is another directory at the end of each PATH, "" for none.
func probeInput(wanted map[string][]string, last string) (input *bytes.Buffer, searches [][2]string) {
	input = &bytes.Buffer{}
	for _, path := range slices.Sorted(maps.Keys(wanted)) {
		whole := path
		if last != "" {
			whole += string(filepath.ListSeparator) + last
		}
		fmt.Fprintf(input, "=%s\n", whole)
		for _, name := range wanted[path] {
			fmt.Fprintf(input, "+%s\n", name)
			searches = append(searches, [2]string{path, name})
		}
	}
	return input, searches
}

// probeSession begins the name of the session in whose workspace a command looks for programs.
const probeSession = "satchel:needs-"

// probeScript prints the number of each program that exists. A line of its input is "=" and a
// PATH, or "+" and a name. It runs no program.
const probeScript = `set -f
n=0
while IFS= read -r line; do
case $line in
=*) path=${line#=}; continue ;;
esac
name=${line#+}
n=$((n + 1))
IFS=:
for dir in $path; do
if [ -f "$dir/$name" ] && [ -x "$dir/$name" ]; then
echo "$n"
break
fi
done
done
exit 0
`

// findOneByOne looks for programs by a finder.
func findOneByOne(ctx context.Context, finder executor.Finder, wanted map[string][]string) (map[string][]string, error) {
	found := map[string][]string{}
	for path, names := range wanted {
		for _, name := range names {
			_, err := finder.Find(ctx, name, path)
			if errors.Is(err, fs.ErrNotExist) && name == "python" && workspace.LastPath("/") != "" { // a link to python3 in each workspace
				_, err = finder.Find(ctx, "python3", path)
			}
			switch {
			case err == nil:
				found[path] = append(found[path], name)
			case !errors.Is(err, fs.ErrNotExist):
				return nil, err
			}
		}
	}
	return found, nil
}

// GivenVariables returns a function that reports whether commands of a skill get a variable, as a
// secret or from Env.
func (r *Runner) GivenVariables(ctx context.Context, skill core.Skill) func(name string) bool {
	var env map[string]string
	isAsked := false
	return func(name string) bool {
		if r.Secret != nil && !skill.Unreviewed {
			if _, ok := r.Secret(ctx, skill, name); ok {
				return true
			}
		}
		if r.Env != nil && !isAsked {
			env, isAsked = r.Env(ctx, skill), true
		}
		_, ok := env[name]
		return ok
	}
}
