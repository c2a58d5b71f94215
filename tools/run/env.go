package run

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/text/callargs"
	"github.com/satchel-go/satchel/tools"
)

// steering are the prefixes of variables that make an allowed program run code of
// the caller's choice.
var steering = [...]string{
	"LD_", "DYLD_", "PYTHON", "PERL", "RUBY", "NODE_", "GIT_", "GCONV_", "JAVA_", "LUA_", "PHP", "R_", "XDG_", "CURL_", "WGET", "SSL_", "OPENSSL_",
	"NPM_", "npm_", "PIP_", "UV_", "CARGO_", "BUNDLE_", "GEM_", "DENO_", "GO", "CLASSPATH", "MAVEN_", "GRADLE_", "SSH_", "BASH", "_JAVA", "JDK_JAVA",
}

func steers(name string) bool {
	if slices.Contains([]string{"PATH", "ENV", "IFS", "HOME", "TMPDIR", "EDITOR", "VISUAL", "PAGER", "SHELL", "ZDOTDIR", "NETRC", "CDPATH", "MAKEFLAGS", "TAR_OPTIONS", "LESSOPEN", "INPUTRC", "AWKPATH", "AWKLIBPATH"}, name) {
		return true
	}
	return slices.ContainsFunc(steering[:], func(s string) bool { return strings.HasPrefix(name, s) })
}

// free reports whether a call may set a variable where commands are restricted: one
// that the host names, or one of language and time zone that names no file.
func (p Policy) free(name, value string) bool {
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

// checkCallEnv refuses variables of a call that could make a privileged command run
// what others have left.
func (st *staging) checkCallEnv() error {
	for name, value := range st.plan.env {
		switch {
		case st.compared() && !st.runner.Policy.free(name, value):
			return tools.ModelErrorf("env: %s cannot be set where commands are restricted", callargs.Line(name, 80))
		case st.privileged && steers(name):
			return tools.ModelErrorf("env: %s cannot be set for a command that has a network, secrets or variables of the host: set it within the command", callargs.Line(name, 80))
		}
	}
	return nil
}

// environment returns the whole environment of the command. Nothing of the host's
// environment is in it. It has, in this order, the host's additions for this
// skill, the workspace's variables, those of the call, and the secrets that the
// skill declares.
func (st *staging) environment() ([]string, error) {
	if err := st.checkCallEnv(); err != nil {
		return nil, err
	}
	own := workspace.Env(st.at.path(""), st.skill.Name, st.dir)
	env := append(appendVars(nil, st.hostEnv), own...)
	visible := reachOf(st.runner).visible
	for _, v := range dependencyVars(st.found, visible) {
		if own := lookup(env, "NODE_OPTIONS"); own != "" && strings.HasPrefix(v, "NODE_OPTIONS=") {
			v += " " + own // those of the host hold too
		}
		env = append(env, v)
	}
	env = append(env, "PATH="+searchPath(lookup(own, "PATH"), st.at.path(""), st.found, visible, st.privileged, st.compared()))
	if st.privileged {
		more, err := st.isolated(lookup(env, "PYTHONPATH"))
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
