package run

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/callargs"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/workspace"
)

var (
	changesDirectory = regexp.MustCompile(`(?i)\b(cd|chdir|pushd|popd|cwd|setwd)\b`)
	// goesTo finds where a command says that it goes.
	goesTo = regexp.MustCompile(`(?:\b(?:cd|chdir|pushd)\s+(?:--\s+)?|\s-C\s*|--(?:prefix|cwd|directory|project)[= ])("[^"]*"|'[^']*'|[^\s;&|()<>]+)`)
)

// foreign are names by which programs find code and settings in the directory
// where they start and in those above, whatever their environment says. Hidden names
// are such, too.
var foreign = []string{
	"node_modules", "package.json", "deno.json", "deno.jsonc", "bunfig.toml", "tsconfig.json", "jsconfig.json", ".npmrc", ".yarnrc.yml", ".env",
	"pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "pytest.ini", "conftest.py", "Pipfile",
	"Makefile", "makefile", "GNUmakefile", "Gemfile", "Rakefile", "composer.json", "Cargo.toml", "go.mod", "go.work", "build.gradle", "pom.xml",
	"Taskfile.yml", "justfile", "Procfile", "_curlrc", "_netrc", "php.ini",
}

// checkAround refuses a privileged command if programs would find code or settings
// of others around the directory in which it starts, or to which it says that it
// goes.
func (st *staging) checkAround() error {
	if !st.runner.Executor.Capabilities().Filesystem.Enforced { // else nothing of others is there
		for _, dir := range []string{"", "skills"} {
			for _, name := range foreign {
				if _, err := st.place.Lstat(path.Join(dir, name)); err == nil {
					return leftBehind(path.Join(dir, name))
				}
			}
		}
	}
	dir := st.cwd
	if err := checkAbove(st.place, dir); err != nil {
		return err
	}
	for _, found := range goesTo.FindAllStringSubmatch(st.plan.command, maxNamed) {
		dir = st.goes(dir, strings.Trim(found[1], `"'`))
		if err := checkAbove(st.place, dir); err != nil {
			return err
		}
	}
	return nil
}

// goes returns the directory of the workspace to which a command in the directory
// from goes.
func (st *staging) goes(from, to string) string {
	to = strings.NewReplacer("{", "", "}", "").Replace(to)
	for name, dir := range map[string]string{
		"$WORKSPACE_DIR": "", "$SKILLS_DIR": "skills", "$WORK_DIR": "work", "$OUTPUT_DIR": "out", "$RUN_DIR": "runs",
		st.at.path(""): "", "/work": "work", "/out": "out", "/runs": "runs",
	} {
		if rest, ok := strings.CutPrefix(to, name); ok && (rest == "" || rest[0] == '/') {
			return strings.TrimPrefix(path.Join("/", dir, rest), "/")
		}
	}
	if from == st.dir { // it has links
		first, rest, _ := strings.Cut(path.Clean(to), "/")
		switch first {
		case "out", "work":
			return path.Join(first, rest)
		case "inputs":
			return path.Join("work/inputs", rest)
		}
	}
	return path.Join(from, to)
}

// checkAbove refuses a directory that all commands of the session may write to, if
// it or one above has names by which programs find code or settings.
func checkAbove(place workspace.Workspace, dir string) error {
	for ; fs.ValidPath(dir) && dir != "." && !strings.HasPrefix(dir+"/", "skills/"); dir = path.Dir(dir) {
		names, err := namesIn(place, dir)
		if err != nil {
			return err
		}
		for _, name := range names {
			file := path.Join(dir, name)
			if name == ".git" {
				if err := checkRepository(place, file); err != nil {
					return err
				}
			} else if strings.HasPrefix(name, ".") || slices.Contains(foreign, name) {
				return leftBehind(file)
			}
		}
	}
	return nil
}

// leftBehind is the error for a file that other commands may have left.
func leftBehind(file string) error {
	return tools.ModelErrorf("not run: programs take code or settings from $WORKSPACE_DIR/%s, which another skill could have written, and this command may do more than others: start in the skill's folder and name files by their paths, copy what is needed to $TMPDIR, or remove it first", callargs.Line(file, 300))
}

// maxNames bounds the names that are looked at in one directory.
const maxNames = 10_000

// namesIn returns the names in a directory, none if it is not there.
func namesIn(place workspace.Workspace, dir string) ([]string, error) {
	f, err := place.Open(dir)
	if err != nil {
		return nil, nil //nolint:nilerr // no command can start there
	}
	defer f.Close()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, nil
	}
	entries, err := d.ReadDir(maxNames + 1)
	if len(entries) > maxNames || err != nil && !errors.Is(err, io.EOF) {
		return nil, tools.ModelErrorf("not run: $WORKSPACE_DIR/%s has more than %d entries, or cannot be read: start in the skill's folder", callargs.Line(dir, 300), maxNames)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// checkRepository refuses a repository that has settings of its own beside those
// that each clone has: some of them are programs.
func checkRepository(place workspace.Workspace, git string) error {
	for _, name := range []string{"commondir", "modules", "worktrees", "info/attributes", "config.worktree"} {
		if _, err := place.Lstat(git + "/" + name); err == nil {
			return leftBehind(git + "/" + name)
		}
	}
	text, err := readHead(place, git+"/config")
	if err != nil {
		return leftBehind(git)
	}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[' && strings.HasSuffix(line, "]"):
			section, _, _ = strings.Cut(strings.ToLower(line[1:len(line)-1]), " ")
		default:
			key, value, _ := strings.Cut(line, "=")
			if key = section + "." + strings.ToLower(strings.TrimSpace(key)); !slices.Contains(harmless, key) || strings.HasSuffix(value, `\`) {
				return leftBehind(git + "/config")
			}
		}
	}
	return nil
}

// harmless are settings of repositories that name no program, or one that
// [staging.isolated] overrides.
var harmless = []string{
	"core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.ignorecase", "core.precomposeunicode", "core.symlinks",
	"core.fsmonitor", "core.hookspath", "core.pager", "core.attributesfile", "core.sshcommand", "core.editor",
	"remote.url", "remote.fetch", "branch.remote", "branch.merge", "branch.rebase", "user.name", "user.email", "init.defaultbranch", "pull.rebase", "push.default",
}
