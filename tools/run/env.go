package run

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/callargs"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/workspace"
)

// steering are the prefixes of variables that make an allowed program run code of
// the caller's choice.
var steering = [...]string{"LD_", "DYLD_", "PYTHON", "PERL", "RUBY", "NODE_", "GIT_", "GCONV_", "JAVA_", "LUA_", "PHP", "R_"}

func steers(name string) bool {
	if name == "PATH" || name == "BASH_ENV" || name == "ENV" || name == "IFS" {
		return true
	}
	return slices.ContainsFunc(steering[:], func(s string) bool { return strings.HasPrefix(name, s) })
}

// environment returns the whole environment of the command. Nothing of the host's
// environment is in it. It has, in this order, the host's additions for this
// skill, the workspace's variables, those of the call, and the secrets that the
// skill declares.
func (st *staging) environment(ctx context.Context) ([]string, error) {
	var env []string
	if st.runner.Env != nil {
		env = appendVars(env, st.runner.Env(ctx, st.skill))
	}
	own := workspace.Env(st.at.path(""), st.skill.Name, st.dir)
	env = append(env, own...)
	visible := reachOf(st.runner).visible
	compared := st.runner.Policy.Restricts() || st.scope.Narrow
	env = append(env, dependencyVars(st.found, visible)...)
	env = append(env, "PATH="+searchPath(lookup(own, "PATH"), st.found, visible, compared))
	if compared {
		for name := range st.plan.env {
			if steers(name) {
				return nil, tools.ModelErrorf("env: %s cannot be set where commands are restricted", callargs.Cut(name, 80))
			}
		}
	}
	if st.scope.Narrow {
		home, err := st.scratch.stageHome()
		if err != nil {
			return nil, err
		}
		env = append(append(env, "HOME="+st.at.path(home)), isolated(st.plan, st.at)...)
	}
	env = appendVars(env, st.plan.env)
	for _, v := range own { // the call does not decide where things are
		if strings.Contains(v, "_DIR=") || strings.HasPrefix(v, "SKILL_NAME=") {
			env = append(env, v)
		}
	}
	if st.plan.editor != "" {
		editor, err := st.scratch.stageEditor()
		if err != nil {
			return nil, err
		}
		program := st.at.path(editor)
		env = append(env, "EDITOR="+program, "VISUAL="+program)
	}
	for _, s := range st.given {
		env = append(env, s.Name+"="+s.Value)
	}
	return env, nil
}

func appendVars(env []string, vars map[string]string) []string {
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		env = append(env, name+"="+vars[name])
	}
	return env
}
