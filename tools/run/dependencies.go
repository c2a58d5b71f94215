package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/catalog"
)

// findDependencies finds the environments with the packages that the skill
// requires. A skill whose packages are not installed still runs, because the
// system may have them.
func (st *staging) findDependencies(ctx context.Context, first bool) error {
	if st.Dependencies == nil {
		return nil
	}
	found, err := st.Dependencies.Find(ctx, func(name string) ([]byte, error) {
		data, err := st.load.from.ReadFile(ctx, st.skill.Name, name)
		if errors.Is(err, catalog.ErrNotExist) {
			return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
		}
		return data, err
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		st.warnings = append(st.warnings, fmt.Sprintf("what the skill requires is not looked for: %v", err))
		return nil
	}
	st.found = found
	if first && len(found.Missing) > 0 {
		st.warnings = append(st.warnings, fmt.Sprintf("the packages of %s are not installed, and commands cannot install them", strings.Join(found.Missing, " and ")))
	}
	return nil
}

// dependencyVars returns the variables that show the packages of the environments,
// and the node modules that the host shows, to the system's interpreters.
func (st *staging) dependencyVars() []string {
	var env, modules []string
	for _, e := range st.found.Environments {
		for _, v := range e.Vars() {
			if path, ok := strings.CutPrefix(v, "NODE_PATH="); ok {
				modules = append(modules, path)
			} else {
				env = append(env, v)
			}
		}
	}
	for _, dir := range st.visible(st.capabilities()) {
		if filepath.Base(dir) == "node_modules" {
			modules = append(modules, dir)
		}
	}
	if len(modules) > 0 {
		env = append(env, "NODE_PATH="+strings.Join(modules, string(filepath.ListSeparator)))
	}
	return env
}
