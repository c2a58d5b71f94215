package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/files/collect"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/text/shellcmd"
)

// errPolicy reports a list of commands that contains no name.
var errPolicy = errors.New("invalid command policy")

// Policy restricts skill_run and skill_exec to one simple command with an allowed name: no shell
// syntax and no path. The zero Policy restricts nothing.
//
// A list of allowed names is a security boundary. A list of denied names is only advice to a
// well-meaning model, because an interpreter such as python3 can start any program.
type Policy struct {
	// Allowed are the only names that may run, if it is not empty.
	Allowed []string
	// Denied names may not run, even if they are in Allowed. Programs that run another program
	// named by their arguments may not run either.
	Denied []string
	// Variables are the names that a call may set with env while commands are restricted. LANG,
	// LC_* and TZ are always allowed with values that name no file. Other variables are refused,
	// because many can make an allowed program run other code.
	Variables []string
}

func (p Policy) shell() shellcmd.Policy {
	return shellcmd.Policy{Allowed: p.Allowed, Denied: p.Denied}
}

// ParsePolicy parses the two lists of a policy: names separated by commas or white space. An
// empty text means no list. A text that is not empty but contains no name is an error, because
// its author does not expect that nothing is restricted.
func ParsePolicy(allowed, denied string) (Policy, error) {
	p := Policy{Allowed: shellcmd.ParseList(allowed), Denied: shellcmd.ParseList(denied)}
	if len(p.Allowed) == 0 && allowed != "" || len(p.Denied) == 0 && denied != "" {
		return p, fmt.Errorf("%w: a list names no command", errPolicy)
	}
	return p, nil
}

// These variables are read by [PolicyFromEnv].
const (
	envAllowed = "SATCHEL_RUN_ALLOWED_COMMANDS"
	envDenied  = "SATCHEL_RUN_DENIED_COMMANDS"
)

// PolicyFromEnv parses a policy from the variables SATCHEL_RUN_ALLOWED_COMMANDS and
// SATCHEL_RUN_DENIED_COMMANDS, like [ParsePolicy]. env is os.Getenv or a similar function. The
// error names the variable.
func PolicyFromEnv(env func(string) string) (Policy, error) {
	for _, name := range []string{envAllowed, envDenied} {
		if _, err := ParsePolicy(env(name), ""); err != nil {
			return Policy{}, fmt.Errorf("%w: %s is set and names no command", errPolicy, name)
		}
	}
	return ParsePolicy(env(envAllowed), env(envDenied))
}

// Restricts reports whether the policy has a list.
func (p Policy) Restricts() bool { return p.shell().Restricts() }

func (p Policy) check(command string, programs shellcmd.Programs) (shellcmd.Simple, error) {
	return p.shell().Check(command, programs)
}

// A command is privileged if it may do more than others of its conversation. It reaches a
// network, has a secret or variables of the host, or passed a list. Files that earlier
// commands, of other skills too, have left in the workspace must not become part of it. So it
// gets its own HOME and temporary directory. Programs find the system's files before those of
// others. Interpreters and git ignore files that belong neither to the skill nor to the system.

// findPrivileges decides whether the command is privileged.
func (st *staging) findPrivileges(ctx context.Context) {
	if st.runner.Env != nil {
		st.hostEnv = st.runner.Env(ctx, st.skill)
	}
	st.isPrivileged = st.requestsGrants() || len(st.hostEnv) > 0 || st.comparesNames()
}

// requestsGrants reports whether the skill requests a network or secrets, if the host grants any.
// Its commands are privileged even before they get them: a program that runs in the skill's .venv
// without them could be run with them later.
func (st *staging) requestsGrants() bool {
	return st.runner.Secret != nil && len(declaredSecrets(st.skill)) > 0 || st.runner.Egress != nil && st.skill.Metadata["network"] != ""
}

// queueEntry returns beside which commands this one may run. A command with a network runs alone.
// If the skill requests grants, its command must not run beside commands of other skills that
// could change its files after they were checked.
func (st *staging) queueEntry() queueEntry {
	e := queueEntry{session: st.scope.Key().Session, skill: st.skill.ID}
	switch {
	case st.network != nil:
		e.beside = besideNone
	case st.requestsGrants() && st.startsShared():
		e.beside = besideOwn
	}
	return e
}

// startsShared reports whether the plan's text starts a program, enters a directory or runs a
// script outside the skill's folder.
func (st *staging) startsShared() bool {
	if isShared(st.plan.cwd) || changesDirectory.MatchString(st.plan.command) || dirArgument.MatchString(st.plan.command) {
		return true
	}
	for _, file := range st.scripts(func(string) bool { return true }) {
		if isShared(file) {
			return true
		}
	}
	return false
}

// isShared reports whether a path in a call may lead out of the skill's folder.
func isShared(name string) bool {
	first, _, _ := strings.Cut(path.Clean(name), "/")
	return first == "" || first == ".." || slices.Contains([]string{"work", "out", "inputs", "runs", "skills"}, first) || strings.ContainsAny(first, "$`*?[~\\")
}

// comparesNames reports whether names of programs are compared with a list.
func (st *staging) comparesNames() bool { return st.runner.Policy.Restricts() || st.scope.ByPattern }

// isolatedEnv returns the variables of a privileged command, except PATH. python is its present
// PYTHONPATH.
func (st *staging) isolatedEnv(python string) ([]string, error) {
	if err := st.checkSurroundings(); err != nil {
		return nil, err
	}
	home, temp, err := st.privateDirs()
	if err != nil {
		return nil, err
	}
	env := []string{
		"HOME=" + home, "TMPDIR=" + temp,
		"PYTHONNOUSERSITE=1",
		"R_PROFILE_USER=/dev/null", "R_ENVIRON_USER=/dev/null",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1",
		// Git looks for a repository where the command starts, and not above.
		"GIT_CEILING_DIRECTORIES=" + strings.Join([]string{st.at.path(""), st.at.path("skills"), st.at.path("work"), st.at.path("work/inputs"), st.at.path("out"), st.at.path("runs")}, ":"),
	}
	settings := [][2]string{
		{"core.fsmonitor", "false"}, {"core.hooksPath", "/dev/null"}, {"core.pager", "cat"}, {"core.attributesFile", "/dev/null"},
		{"core.sshCommand", "ssh"}, {"core.editor", "false"}, {"credential.helper", ""}, {"safe.bareRepository", "explicit"}, {"protocol.ext.allow", "never"},
	}
	env = append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)))
	for i, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s[1]))
	}
	if own := st.moduleDirs(); own != nil {
		// Otherwise Python would import modules from its current directory. Those
		// of the skill stay importable by their directories.
		if python != "" {
			own = append(own, python)
		}
		env = append(env, "PYTHONSAFEPATH=1", "PYTHONPATH="+strings.Join(own, string(filepath.ListSeparator)))
	}
	return env, nil
}

// moduleDirs returns the directories of the skill's scripts in the plan, and the skill's folder,
// if the command may leave the skill's folder or runs a script outside. Otherwise it returns nil:
// commands cannot change that folder, so Python may import from it.
func (st *staging) moduleDirs() (dirs []string) {
	leaves := path.Clean(st.plan.cwd) != "." || changesDirectory.MatchString(st.plan.command) || dirArgument.MatchString(st.plan.command) ||
		len(st.sharedScripts(func(by string) bool { return by == "python3" })) > 0
	for _, file := range st.plan.files() {
		for _, file := range []string{file, "scripts/" + path.Base(file)} {
			file = path.Join(st.dir, file)
			text, err := readHead(st.place, file)
			if err != nil {
				continue
			}
			leaves = leaves || changesDirectory.MatchString(text)
			if dir := st.at.path(path.Dir(file)); !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	if !leaves {
		return nil
	}
	if own := st.at.path(st.dir); !slices.Contains(dirs, own) {
		dirs = append(dirs, own)
	}
	return dirs
}

// files returns the words of the plan that may name files of the skill, relative to its folder.
func (p *plan) files() (files []string) {
	words := append([]string{p.script}, strings.FieldsFunc(p.command, func(r rune) bool { return strings.ContainsRune(" \t\n;|&()<>\"'", r) })...)
	for _, word := range words {
		word = strings.TrimPrefix(word, "./")
		if len(files) < maxNamed && path.Ext(word) != "" && fs.ValidPath(word) {
			files = append(files, word)
		}
	}
	return files
}

// readHead returns the beginning of a file of the workspace.
func readHead(place workspace.Workspace, file string) (string, error) {
	f, err := collect.Open(place, file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxHead))
	return string(text), err
}

// privateDirs returns the HOME and the temporary directory of this command. If the executor gives
// each command a private directory, both are there. An editor is staged in the workspace even
// then, because programs need a path there.
func (st *staging) privateDirs() (home, temp string, err error) {
	own := st.runner.Executor.Capabilities().TempAt
	if own == "" || st.plan.editor != "" {
		if _, err := st.scratch.stageHome(); err != nil {
			return "", "", err
		}
	}
	if own != "" {
		return own, own, nil
	}
	return st.at.path(st.scratch.home), st.at.path(st.scratch.temp), nil
}

// stageHome creates an empty HOME and an empty temporary directory for this command.
func (s *scratch) stageHome() (dir string, err error) {
	if s.home, err = s.place.Scratch(s.name("home")); err == nil {
		s.temp, err = s.place.Scratch(s.name("tmp"))
	}
	return s.home, err
}

// revokedGrant returns the name of a network rule or a secret that the command has but its skill
// would not get now, or "".
func (st *staging) revokedGrant(ctx context.Context) string {
	if st.network != nil {
		now := networkAccessOf(ctx, st.runner, st.skill, &notes{})
		for _, rule := range st.network.policy.Rules {
			if now == nil || !now.reaches(rule) {
				return "the network " + rule.String()
			}
		}
	}
	for _, s := range st.secrets {
		if _, ok := st.runner.Secret(ctx, st.skill, s.Name); !ok {
			return "the secret " + s.Name
		}
	}
	return ""
}
