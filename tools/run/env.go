package run

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/internal/files/deps"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/tools"
)

// codeVariables are prefixes of variables with which a caller can make an allowed program run
// other code.
var codeVariables = [...]string{
	"LD_", "DYLD_", "PYTHON", "PERL", "RUBY", "NODE_", "GIT_", "GCONV_", "JAVA_", "LUA_", "PHP", "R_", "XDG_", "CURL_", "WGET", "SSL_", "OPENSSL_",
	"NPM_", "npm_", "PIP_", "UV_", "CARGO_", "BUNDLE_", "GEM_", "DENO_", "GO", "CLASSPATH", "MAVEN_", "GRADLE_", "SSH_", "BASH", "_JAVA", "JDK_JAVA",
}

// mayRunCode reports whether a variable can make a program run other code.
func mayRunCode(name string) bool {
	if slices.Contains([]string{"PATH", "ENV", "IFS", "HOME", "TMPDIR", "EDITOR", "VISUAL", "PAGER", "SHELL", "ZDOTDIR", "NETRC", "CDPATH", "MAKEFLAGS", "TAR_OPTIONS", "LESSOPEN", "INPUTRC", "AWKPATH", "AWKLIBPATH"}, name) {
		return true
	}
	return slices.ContainsFunc(codeVariables[:], func(s string) bool { return strings.HasPrefix(name, s) })
}

// allowsVariable reports whether a call may set a variable if commands are restricted. The host
// names such variables; those of language and time zone are allowed if they name no file.
func (p Policy) allowsVariable(name, value string) bool {
	switch {
	case slices.Contains(p.Variables, name):
		return true
	case name == "LANG" || localeVariable.MatchString(name):
		return locale.MatchString(value)
	}
	return name == "TZ" && zone.MatchString(value) && !strings.Contains(value, "..")
}

var (
	localeVariable = regexp.MustCompile(`^LC_[A-Z]+$`)
	locale         = regexp.MustCompile(`^[A-Za-z0-9_.@-]{0,64}$`)
	zone           = regexp.MustCompile(`^([A-Za-z0-9_+,.-][A-Za-z0-9_+,./-]{0,63})?$`)
)

// checkCallEnv returns an error for variables of a call that could make a privileged command run
// code of other skills.
func (st *staging) checkCallEnv() error {
	for name, value := range st.plan.env {
		switch {
		case st.comparesNames() && !st.runner.Policy.allowsVariable(name, value):
			return tools.ModelErrorf("env: %s cannot be set where commands are restricted", printable.CutLine(name, 80))
		case st.isPrivileged && mayRunCode(name):
			return tools.ModelErrorf("env: %s cannot be set for a command that has a network, secrets or variables of the host: set it within the command", printable.CutLine(name, 80))
		}
	}
	return nil
}

// environment returns the whole environment of the command. It contains nothing of the host's own
// environment. Its parts are, in this order: the host's variables for this skill, the workspace's
// variables, those of the call, and the secrets that the skill declares.
func (st *staging) environment(ctx context.Context) ([]string, error) {
	if err := st.checkCallEnv(); err != nil {
		return nil, err
	}
	own := workspace.Env(st.at.path(""), st.skill.Name, st.dir)
	env := append(appendVars(nil, st.hostEnv), own...)
	visible := reachOf(st.runner).visible
	for _, v := range dependencyVars(st.dependencies, visible, st.systemPackages(ctx)) {
		if own := lookup(env, "NODE_OPTIONS"); own != "" && strings.HasPrefix(v, "NODE_OPTIONS=") {
			v += " " + own // keep the host's options
		}
		env = append(env, v)
	}
	env = append(env, "PATH="+searchPath(lookup(own, "PATH"), st.at.path(""), st.dependencies, visible, st.isPrivileged, st.comparesNames()))
	if st.isPrivileged {
		more, err := st.isolatedEnv(lookup(env, "PYTHONPATH"))
		if err != nil {
			return nil, err
		}
		env = append(env, more...)
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
	for _, s := range st.secrets {
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

// searchPath returns the PATH of a command. at is where commands see the workspace. Programs of
// packages, and of directories that the host shows, come before those of the system.
//
// If names are compared with a list, a name must mean the program of the system. So the system
// comes first, and the .venv of the skill, to which commands can write, is left out. For other
// privileged commands the .venv comes last. The last directory is [workspace.LastPath].
func searchPath(own, at string, found deps.Status, visible []string, privileged, compared bool) string {
	const separator = string(filepath.ListSeparator)
	venv, system, _ := strings.Cut(own, separator)
	programs := programDirs(found, visible)
	var all []string
	switch {
	case compared:
		all = append([]string{system}, programs...)
	case privileged:
		all = append(programs, system, venv)
	default:
		all = append(append([]string{venv}, programs...), system)
	}
	if last := workspace.LastPath(at); last != "" {
		all = append(all, last)
	}
	return strings.Join(all, separator)
}

// programDirs returns the directories with the programs of packages and of visible directories.
func programDirs(found deps.Status, visible []string) (dirs []string) {
	for _, e := range found.Environments {
		dirs = append(dirs, e.Bin())
	}
	for _, dir := range visible {
		dirs = append(dirs, programsOf(dir))
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return strings.ContainsRune(dir, filepath.ListSeparator) })
}

// programsOf returns the subdirectory of dir with its programs.
func programsOf(dir string) string {
	switch filepath.Base(dir) {
	case "bin":
		return dir
	case "node_modules":
		return filepath.Join(dir, ".bin")
	}
	return filepath.Join(dir, "bin")
}

// findDependencies finds the environments with the packages that the skill requires. If packages
// are not installed, the skill still runs, because the system may have them.
func findDependencies(ctx context.Context, cache *deps.Cache, skill string, from *catalog.Catalog, n *notes) (deps.Status, error) {
	if cache == nil {
		return deps.Status{}, nil
	}
	found, err := cache.Find(ctx, func(name string) ([]byte, error) { return from.ReadFile(ctx, skill, name) })
	if ctx.Err() != nil {
		return deps.Status{}, ctx.Err()
	}
	if err != nil {
		n.add(fmt.Sprintf("what the skill requires is not looked for: %v", err))
		return deps.Status{}, nil
	}
	return found, nil
}

// dependencyVars returns the variables with which the system's interpreters find the packages of
// the environments and of the visible directories. pythonIn returns the packages directory of a
// virtual environment, or "".
func dependencyVars(found deps.Status, visible []string, pythonIn func(dir string) string) []string {
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
		} else if packages := pythonIn(dir); packages != "" {
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
