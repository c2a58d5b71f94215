package run

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/satchel-go/satchel/internal/callargs"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/workspace"
)

// A command that passes the lists by a pattern may run only what the pattern
// names. What earlier commands or inputs have left in the workspace must not
// become part of it. So it gets an empty HOME, and interpreters and git are told
// to ignore whatever belongs neither to the script nor to the system.

// isolated returns the variables of such a command, besides PATH and HOME. The
// call cannot set the variables that could undo them, see steering.
func isolated(p *plan, at seenAt) []string {
	env := []string{
		"PYTHONNOUSERSITE=1",
		"R_PROFILE_USER=/dev/null", "R_ENVIRON_USER=/dev/null",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1",
		// Git looks for a repository where the command starts, and not above.
		"GIT_CEILING_DIRECTORIES=" + strings.Join([]string{at.path(""), at.path("skills"), at.path("work"), at.path("work/inputs"), at.path("out"), at.path("runs")}, ":"),
	}
	settings := [][2]string{
		{"core.fsmonitor", "false"}, {"core.hooksPath", "/dev/null"}, {"core.pager", "cat"}, {"core.attributesFile", "/dev/null"},
		{"core.sshCommand", "ssh"}, {"safe.bareRepository", "explicit"}, {"protocol.ext.allow", "never"},
	}
	env = append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)))
	for i, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s[1]))
	}
	if path.Clean(p.cwd) != "." || changesDirectory.MatchString(p.command) {
		// Otherwise Python would import modules from its current directory. In
		// the folder of the skill, which commands cannot change, scripts need the
		// modules beside them.
		env = append(env, "PYTHONSAFEPATH=1")
	}
	return env
}

var changesDirectory = regexp.MustCompile(`\b(cd|chdir|pushd|popd)\b`)

// stageHome makes an empty HOME for this command alone.
func (s *scratch) stageHome() (dir string, err error) {
	if err := checkAbove(s.place); err != nil {
		return "", err
	}
	s.home, err = s.place.Scratch(s.name("home"))
	return s.home, err
}

// foreign are the names by which programs find code and settings in the
// directories above a script's own, whatever their environment says.
var foreign = []string{"node_modules", "package.json", "deno.json", "deno.jsonc", "bunfig.toml", "tsconfig.json", ".npmrc", ".yarnrc.yml"}

// checkAbove refuses a command while such a name exists above the skill's folder:
// the skill has not put it there, and neither has the workspace.
func checkAbove(place workspace.Workspace) error {
	for _, dir := range []string{"", "skills/"} {
		for _, name := range foreign {
			if _, err := place.Lstat(dir + name); err == nil {
				return tools.ModelErrorf("$WORKSPACE_DIR/%s was left above the skill's folder, and programs could take code from there: remove it first", dir+name)
			}
		}
	}
	return nil
}

// checkHostFiles refuses directories of the host where patterns say what may be
// read, because no pattern was compared with the names in them.
func checkHostFiles(inputs []workspace.Input) error {
	for _, in := range inputs {
		host, _ := workspace.Touches(in)
		if host == "" {
			continue
		}
		if info, err := os.Stat(host); err == nil && info.IsDir() {
			return tools.ModelErrorf("input %q is a directory: where patterns say what may be read, name its files one by one", callargs.Cut(in.From, 200))
		}
	}
	return nil
}
