package tools

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/workspace"
)

// steering are beginnings of variables that make an allowed program run code of
// the caller's choice.
var steering = [...]string{"LD_", "DYLD_", "PYTHON", "PERL", "RUBY", "NODE_", "GIT_", "GCONV_", "JAVA_", "LUA_", "PHP", "R_"}

func steers(name string) bool {
	if name == "PATH" || name == "BASH_ENV" || name == "ENV" || name == "IFS" {
		return true
	}
	return slices.ContainsFunc(steering[:], func(s string) bool { return strings.HasPrefix(name, s) })
}

// environment is the whole environment of the command. Nothing of the host's
// is in it: first the host's additions for this skill, then the workspace's
// variables, then the call's, and last the secrets that the skill declares.
func (j *running) environment(ctx context.Context) ([]string, error) {
	var env []string
	if j.Env != nil {
		env = appendVars(env, j.Env(ctx, j.skill))
	}
	own := workspace.Env(j.seen(""), j.skill.Name, j.dir)
	env = append(env, own...)
	if j.restricted() || j.scope.Narrow {
		for name := range j.req.env {
			if steers(name) {
				return nil, tellf("env: %s cannot be set where commands are restricted", cut(name, 80))
			}
		}
		// The skill's .venv/bin is writable: what a command puts there must
		// not pass for an allowed program.
		_, system, _ := strings.Cut(lookup(own, "PATH"), string(filepath.ListSeparator))
		env = append(env, "PATH="+system)
	}
	env = appendVars(env, j.req.env)
	for _, v := range own { // where things are is not the call's to say
		if strings.Contains(v, "_DIR=") || strings.HasPrefix(v, "SKILL_NAME=") {
			env = append(env, v)
		}
	}
	if j.req.editor != "" {
		program, err := j.stageEditor()
		if err != nil {
			return nil, err
		}
		env = append(env, "EDITOR="+program, "VISUAL="+program)
	}
	for _, s := range j.given {
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
