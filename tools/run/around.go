package run

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/text/callargs"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/tools"
)

var (
	changesDirectory = regexp.MustCompile(`(?i)\b(cd|chdir|pushd|popd|cwd|setwd)\b`)
	// dirArgument matches the parts of a command that name a directory to which it changes.
	dirArgument = regexp.MustCompile(`(?:\b(?:cd|chdir|pushd)\s+(?:-\S*\s+)*|\s-C\s*|\s--?(?:prefix|cwd|dir|directory|project|chdir|git-dir|work-tree)[=\s]\s*|\bGIT_(?:DIR|WORK_TREE)=)(` + word + `)`)
	words       = regexp.MustCompile(word)
	// commandSeparators separates the simple commands of a command.
	commandSeparators = regexp.MustCompile(`[;&|()\n]+`)
)

// word matches a word of a command with its quotes.
const word = `(?:"[^"]*"|'[^']*'|[^\s;&|()<>"'])+`

var unquoter = strings.NewReplacer(`"`, "", `'`, "", "{", "", "}", "")

// configNames are files and directories in which programs find code and settings, in the
// directory where they start and in its parents. The environment cannot prevent that. Hidden
// names count too.
var configNames = []string{
	"node_modules", "package.json", "deno.json", "deno.jsonc", "bunfig.toml", "tsconfig.json", "jsconfig.json", ".npmrc", ".yarnrc.yml", ".env",
	"pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "pytest.ini", "conftest.py", "Pipfile",
	"Makefile", "makefile", "GNUmakefile", "Gemfile", "Rakefile", "composer.json", "Cargo.toml", "go.mod", "go.work", "build.gradle", "pom.xml",
	"Taskfile.yml", "justfile", "Procfile", "_curlrc", "_netrc", "php.ini", "Snakefile", "Gruntfile.js", "gulpfile.js", "latexmkrc",
	"ansible.cfg", "mypy.ini", "uv.toml", "ruff.toml", "poetry.toml", "noxfile.py", "tasks.py", "fabfile.py", "dodo.py", "gunicorn.conf.py",
}

// isConfigName reports whether a name is hidden, is in configNames, or has the form of a
// configuration file that is a program.
func isConfigName(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains(configNames, name) || strings.Contains(name, ".config.") || strings.HasSuffix(name, "_config.py")
}

// checkSurroundings returns an error for a privileged command if programs could find code or
// settings of other skills. It looks in the working directory, in directories to which the
// command changes, and in their parents.
func (st *staging) checkSurroundings() error {
	if len(st.hiddenDirs) > 0 {
		return tools.ModelErrorf("not run: the skill's own folder %q is hidden by that of the conversation, to which other skills write, and this command may do more than others: commands that have a network, a secret or a list run only when the author of the skill has renamed it", st.hiddenDirs[0])
	}
	if c := st.runner.Executor.Capabilities(); c.Filesystem.Enforced && !c.Links.Enforced {
		left := maxNames
		for _, dir := range []string{"work", "out", "runs"} {
			if err := checkLinks(st.place, dir, &left); err != nil {
				return err
			}
		}
	}
	if !st.runner.Executor.Capabilities().Filesystem.Enforced { // otherwise commands cannot write there
		for _, dir := range []string{"", "skills"} {
			for _, name := range configNames {
				if _, err := st.place.Lstat(path.Join(dir, name)); err == nil {
					return errConfigFile(path.Join(dir, name))
				}
			}
		}
	}
	for _, dir := range []string{"out", "work", "work/inputs"} { // the skill's folder has links to them, which Python takes for packages
		entries, err := entriesIn(st.place, dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), "__init__.") {
				return errConfigFile(path.Join(dir, e.Name()))
			}
		}
	}
	dir := st.cwd
	if err := st.checkAbove(dir); err != nil {
		return err
	}
	for _, found := range dirArgument.FindAllStringSubmatch(st.plan.command, maxNamed) {
		var known bool
		if dir, known = st.targetDir(dir, unquoter.Replace(found[1])); !known {
			left := maxNames
			return errors.Join(checkBelow(st.place, "work", &left), checkBelow(st.place, "out", &left))
		}
		if err := st.checkAbove(dir); err != nil {
			return err
		}
	}
	for _, dir := range st.sharedScripts(func(by string) bool { return by != "python3" && by != "bash" }) { // PYTHONSAFEPATH is for Python
		if err := st.checkAbove(dir); err != nil {
			return err
		}
	}
	return nil
}

// sharedScripts returns the directories outside the skills with scripts that the command may
// start. wanted selects scripts by the interpreter of their extension.
func (st *staging) sharedScripts(wanted func(by string) bool) (dirs []string) {
	for _, file := range st.scripts(wanted) {
		dir, _ := st.targetDir(st.cwd, path.Dir(file))
		if dir != "." && !strings.HasPrefix(dir+"/", "skills/") && !slices.Contains(dirs, dir) && len(dirs) < maxNamed {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// scripts returns the script files that the command may start. wanted selects them by the
// interpreter of their extension.
func (st *staging) scripts(wanted func(by string) bool) (files []string) {
	for _, simple := range commandSeparators.Split(st.plan.command, maxNames) {
		words := words.FindAllString(simple, maxNames)
		if len(words) == 0 || slices.Contains(filePrograms, words[0]) {
			continue
		}
		for _, text := range words {
			file := unquoter.Replace(text)
			if by := interpreter(file, st.runner.Interpreters); by != nil && wanted(by[0]) {
				files = append(files, file)
			}
		}
	}
	return files
}

// filePrograms are programs that only read and write the files in their arguments.
var filePrograms = []string{"cp", "mv", "rm", "ls", "cat", "head", "tail", "wc", "grep", "diff", "tee", "mkdir", "touch", "chmod", "echo", "printf", "test", "stat", "file"}

// targetDir returns the directory of the workspace to which a command in directory from changes.
// known reports whether the text alone determines it.
func (st *staging) targetDir(from, to string) (dir string, known bool) {
	for _, own := range []string{"$TMPDIR", "$HOME", "~"} {
		if rest, ok := strings.CutPrefix(to, own); ok && (rest == "" || rest[0] == '/') && !strings.Contains(rest, "..") {
			return ".", true
		}
	}
	for name, dir := range map[string]string{
		"$WORKSPACE_DIR": "", "$SKILLS_DIR": "skills", "$WORK_DIR": "work", "$OUTPUT_DIR": "out", "$RUN_DIR": "runs", "$PWD": from,
		st.at.path(""): "", "/skills": "skills", "/work": "work", "/out": "out", "/runs": "runs",
	} {
		if rest, ok := strings.CutPrefix(to, name); ok && (rest == "" || rest[0] == '/') {
			from, to = dir, "./"+rest
			break
		}
	}
	// After a symlink, programs resolve ".." to another directory than shells do.
	known = !strings.ContainsAny(to, "$`*?[~\\") && !strings.Contains(strings.TrimLeft(to, "./"), "..")
	return callargs.ThroughLinks(strings.TrimPrefix(path.Join("/", from, to), "/")), known
}

// checkAbove returns an error if a directory that other skills may have written is a symlink, or
// if it or a parent contains a configuration file.
func (st *staging) checkAbove(dir string) error {
	for ; fs.ValidPath(dir) && dir != "." && dir != "skills" && !strings.HasPrefix(dir+"/", st.dir+"/"); dir = path.Dir(dir) {
		if info, err := st.place.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return errConfigFile(dir)
		}
		entries, err := entriesIn(st.place, dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := checkEntry(st.place, dir, e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkBelow returns an error if a directory, or one below it, contains a configuration file.
// left is how many entries it may still read.
func checkBelow(place workspace.Workspace, dir string, left *int) error {
	entries, err := entriesIn(place, dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if *left--; *left < 0 {
			return tools.ModelErrorf("not run: it cannot be seen where the command goes, and there are too many files to look at: say where by a plain path")
		}
		if err := checkEntry(place, dir, e.Name()); err != nil {
			return err
		}
		if e.IsDir() && e.Name() != ".git" {
			if err := checkBelow(place, path.Join(dir, e.Name()), left); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkLinks returns an error for a symlink in a directory or below it, because it may lead to
// files that only this command may write. left is how many entries it may still read.
func checkLinks(place workspace.Workspace, dir string, left *int) error {
	entries, err := entriesIn(place, dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		file := path.Join(dir, e.Name())
		if *left--; *left < 0 {
			return tools.ModelErrorf("not run: there are too many files in $WORK_DIR, $OUTPUT_DIR and $RUN_DIR to look for links: remove some first")
		}
		switch {
		case e.IsDir():
			err = checkLinks(place, file, left)
		case e.Type()&fs.ModeSymlink != 0:
			err = tools.ModelErrorf("not run: $WORKSPACE_DIR/%s is a link, which another skill could have made, and this command may do more than others: remove it first", printable.CutLine(file, 300))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkEntry returns an error for an entry in which programs find code or settings.
func checkEntry(place workspace.Workspace, dir, name string) error {
	switch file := path.Join(dir, name); {
	case name == ".git":
		return checkRepository(place, file)
	case isConfigName(name):
		return errConfigFile(file)
	}
	return nil
}

// errConfigFile returns the error for a configuration file that another skill could have written.
func errConfigFile(file string) error {
	return tools.ModelErrorf("not run: programs take code or settings from $WORKSPACE_DIR/%s, which another skill could have written, and this command may do more than others: start in the skill's folder and name files by their paths, copy what is needed to $TMPDIR, or remove it first", printable.CutLine(file, 300))
}

// entriesIn returns the entries of a directory, none if it does not exist.
func entriesIn(place workspace.Workspace, dir string) ([]fs.DirEntry, error) {
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
		return nil, tools.ModelErrorf("not run: $WORKSPACE_DIR/%s has more than %d entries, or cannot be read: start in the skill's folder", printable.CutLine(dir, 300), maxNames)
	}
	return entries, nil
}

// checkRepository returns an error for a git repository with settings that a plain clone does not
// have, because some settings name programs.
func checkRepository(place workspace.Workspace, git string) error {
	for _, name := range []string{"commondir", "modules", "worktrees", "info/attributes", "config.worktree"} {
		if _, err := place.Lstat(git + "/" + name); err == nil {
			return errConfigFile(git + "/" + name)
		}
	}
	text, err := readHead(place, git+"/config")
	if err != nil || len(text) == maxHead { // there may be more
		return errConfigFile(git)
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
			if key = section + "." + strings.ToLower(strings.TrimSpace(key)); !slices.Contains(harmlessSettings, key) || strings.HasSuffix(value, `\`) || key == "remote.url" && !remoteURL.MatchString(value) {
				return errConfigFile(git + "/config")
			}
		}
	}
	return nil
}

// remoteURL matches addresses of other machines. A push to a directory of this machine would run
// the hooks there.
var remoteURL = regexp.MustCompile(`^\s*"?(https?://|ssh://|git://|[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:)`)

// harmlessSettings are settings of repositories that name no program, or that
// [staging.isolatedEnv] overrides.
var harmlessSettings = []string{
	"core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.ignorecase", "core.precomposeunicode", "core.symlinks",
	"core.fsmonitor", "core.hookspath", "core.pager", "core.attributesfile", "core.sshcommand", "core.editor",
	"remote.url", "remote.fetch", "branch.remote", "branch.merge", "branch.rebase", "user.name", "user.email", "init.defaultbranch", "pull.rebase", "push.default",
}
