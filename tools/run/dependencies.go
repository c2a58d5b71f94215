package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/internal/files/deps"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/text/shellcmd/lookpath"
)

// findDependencies finds the environments with the packages that the skill
// requires. A skill whose packages are not installed still runs, because the
// system may have them.
func findDependencies(ctx context.Context, cache *deps.Cache, skill string, from *catalog.Catalog, n *notes) (deps.Found, error) {
	if cache == nil {
		return deps.Found{}, nil
	}
	found, err := cache.Find(ctx, func(name string) ([]byte, error) {
		data, err := from.ReadFile(ctx, skill, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
		}
		return data, err
	})
	if ctx.Err() != nil {
		return deps.Found{}, ctx.Err()
	}
	if err != nil {
		n.add(fmt.Sprintf("what the skill requires is not looked for: %v", err))
		return deps.Found{}, nil
	}
	return found, nil
}

// dependencyVars returns the variables that show the packages of the environments,
// and those that the host shows, to the system's interpreters.
func dependencyVars(found deps.Found, visible []string) []string {
	var python, node []string
	options := ""
	for _, e := range found.Environments {
		for _, v := range e.Vars() {
			switch name, value, _ := strings.Cut(v, "="); name {
			case "NODE_PATH":
				node = append(node, value)
			case "NODE_OPTIONS":
				options = v // one is enough: it reads NODE_PATH
			case "PYTHONPATH":
				python = append(python, value)
			}
		}
	}
	for _, dir := range visible {
		if filepath.Base(dir) == "node_modules" {
			node = append(node, dir)
		} else if packages := systemPackages(dir); packages != "" {
			python = append(python, packages)
		}
	}
	var env []string
	if len(python) > 0 {
		env = append(env, "PYTHONPATH="+strings.Join(python, string(filepath.ListSeparator)))
	}
	if len(node) > 0 {
		env = append(env, "NODE_PATH="+strings.Join(node, string(filepath.ListSeparator)))
	}
	if options != "" {
		env = append(env, options)
	}
	return env
}

// systemPackages returns where the packages of a virtual environment are, if they are
// for the version of the system's Python: where names are compared with a list, python3
// means that one. Otherwise it returns "".
func systemPackages(dir string) string {
	if _, err := os.Stat(filepath.Join(dir, "pyvenv.cfg")); err != nil {
		return ""
	}
	python, err := lookpath.Find("python3", workspace.SystemPath)
	if err == nil {
		python, err = filepath.EvalSymlinks(python) // /usr/bin/python3.11
	}
	packages := filepath.Join(dir, "lib", filepath.Base(python), "site-packages")
	if err == nil {
		_, err = os.Stat(packages)
	}
	if err != nil || strings.ContainsRune(packages, filepath.ListSeparator) {
		return ""
	}
	return packages
}
