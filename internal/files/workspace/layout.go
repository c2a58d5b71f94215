package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"unicode"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// Directories of a workspace, relative to it.
const (
	skillsDir = "skills"
	workDir   = "work"
	inputsDir = "work/inputs"
	outDir    = "out"
	runsDir   = "runs"
	homeDir   = "runs/home"
	tempDir   = "runs/tmp"
)

// Directories of a session below an instance.
const (
	treeName    = "workspace"
	controlName = "control"
)

// fixedDirs lists the directories that every workspace has, parents first.
func fixedDirs() []string {
	return []string{skillsDir, workDir, inputsDir, outDir, runsDir, homeDir, tempDir}
}

// repair makes the fixed directories. It restores those that a command has removed, made
// unreadable, or replaced with a link or a file. It removes links and does not follow them.
func (ws *Local) repair() error {
	ws.repairMu.Lock()
	defer ws.repairMu.Unlock()
	// From the parent down: nothing inside an unreadable directory can be
	// reached.
	inst, tree := ws.owner.inst.root, ws.dir+"/"+treeName
	info, err := inst.Lstat(tree)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrClosed // it was removed
	}
	if err == nil {
		err = makeAccessible(inst, tree, info)
	}
	if err != nil {
		return fmt.Errorf("open the workspace: %w", cause(err))
	}
	for _, dir := range fixedDirs() {
		if err := repairDir(ws.root, dir); err != nil {
			return fmt.Errorf("make %q: %w", dir, err)
		}
	}
	if err := ws.linkPrograms(); err != nil {
		return fmt.Errorf("make %q: %w", linksDir, err)
	}
	return nil
}

func repairDir(root *os.Root, dir string) error {
	parent, name := root, path.Base(dir)
	if up := path.Dir(dir); up != "." {
		var err error
		if parent, err = openDir(root, up, false); err != nil {
			return err
		}
		defer parent.Close()
	}
	info, err := parent.Lstat(name)
	switch {
	case err == nil && info.IsDir():
		return makeAccessible(parent, name, info)
	case err == nil:
		err = parent.Remove(name)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err == nil {
		err = parent.Mkdir(name, 0o755)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) { // another call may be faster
		return cause(err)
	}
	return nil
}

// tidy removes the temporary files that an earlier process left in its workspace when it was
// killed.
func (ws *Local) tidy() {
	if !ws.isInherited {
		return
	}
	t := tidier{left: maxTidied}
	t.walk(ws.control, 0)
	for _, dir := range []struct {
		path  string
		depth int
	}{{skillsDir, 0}, {inputsDir, 0}, {outDir, maxUsageDepth}, {workDir, maxUsageDepth}, {runsDir, maxUsageDepth}} {
		sub, err := openDir(ws.root, dir.path, false)
		if err != nil {
			t.failed = err
			continue
		}
		t.walk(sub, dir.depth)
		sub.Close()
	}
	if t.failed != nil {
		ws.owner.cfg.logger.Warn("workspaces: leftovers not removed", "session", ws.session, "error", t.failed)
	}
}

type tidier struct {
	left   int   // how many more entries to look at
	failed error // the last error
}

// walk tidies a directory and those in it, depth levels down.
func (t *tidier) walk(dir *os.Root, depth int) {
	entries, err := readSome(dir, max(t.left, 1))
	if err != nil {
		t.failed = err
	}
	t.left -= len(entries)
	for _, e := range entries {
		if plainfile.IsTemporary(e.Name()) {
			if err := removeAll(dir, e.Name()); err != nil {
				t.failed = err
			}
		}
	}
	for _, e := range entries {
		if t.left <= 0 || depth == 0 {
			return
		}
		if !e.IsDir() || plainfile.IsTemporary(e.Name()) {
			continue
		}
		if sub, err := openStep(dir, e.Name(), false); err == nil { // skip directories that cannot be read
			t.walk(sub, depth-1)
			sub.Close()
		}
	}
}

// openDir opens a slash-separated path below root without following links:
// os.Root keeps the path inside the workspace, but a link could still lead from
// work/ to the skills. With create, it makes missing directories. The caller
// closes the result.
func openDir(root *os.Root, rel string, create bool) (*os.Root, error) {
	current, owned := root, false
	for part := range strings.SplitSeq(path.Clean(rel), "/") {
		next, err := openStep(current, part, create)
		if owned {
			current.Close()
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", rel, err)
		}
		current, owned = next, true
	}
	return current, nil
}

func openStep(dir *os.Root, name string, create bool) (*os.Root, error) {
	info, err := dir.Lstat(name)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err := dir.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, cause(err)
		}
		info, err = dir.Lstat(name)
	}
	if err != nil {
		return nil, cause(err)
	}
	if !info.IsDir() {
		return nil, notDirectory(name, info.Mode())
	}
	// With "/." only a directory can be opened. Opening a pipe that a command has put there
	// would block.
	next, err := dir.OpenRoot(name + "/.")
	if err != nil {
		return nil, cause(err)
	}
	// A command may have replaced the directory between Lstat and OpenRoot.
	opened, err := next.Stat(".")
	if err != nil || !os.SameFile(info, opened) {
		next.Close()
		return nil, fmt.Errorf("%w: %q changed meanwhile", ErrPath, name)
	}
	return next, nil
}

func notDirectory(name string, mode fs.FileMode) error {
	if mode&fs.ModeSymlink != 0 {
		return fmt.Errorf("%w: %q is a link", ErrPath, name)
	}
	return fmt.Errorf("%w: %q is %s, not a directory", ErrTaken, name, plainfile.Kind(mode))
}

// placeFile makes a file called name in dir. The file gets its name when fill has
// written it completely. A file or link of that name is replaced, never written
// through; a directory is [ErrTaken].
func placeFile(dir *os.Root, name string, mode fs.FileMode, fill func(*os.File) error) (err error) {
	info, err := dir.Lstat(name)
	if err == nil && info.IsDir() {
		return fmt.Errorf("%w: %q is a directory; end the path with the name of a file in it", ErrTaken, name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cause(err)
	}
	temp := freshName(newPrefix)
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return cause(err)
	}
	defer func() {
		if err != nil {
			dir.Remove(temp)
		}
	}()
	if err := errors.Join(withoutPath(f, fill(f)), withoutPath(f, f.Chmod(mode)), withoutPath(f, f.Close())); err != nil {
		return err
	}
	if err := dir.Rename(temp, name); err != nil {
		return cause(err)
	}
	return nil
}

// withoutPath removes the name of f, a path of the host, from an error about it.
// Errors of the source of f stay as they are.
func withoutPath(f *os.File, err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok && pathErr.Path == f.Name() {
		return pathErr.Err
	}
	return err
}

// SystemPath is the PATH of commands. The PATH of this process has no influence on it.
const SystemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Env returns the whole environment of a command as "NAME=value". base is the path at which
// the command sees the workspace. The environment has WORKSPACE_DIR, SKILLS_DIR, WORK_DIR,
// OUTPUT_DIR and RUN_DIR. TMPDIR and the HOME of each skill are below RUN_DIR. PATH has the
// skill's .venv/bin before the system's directories. LANG is C.UTF-8. SKILL_NAME is skill
// without control characters.
//
// No variable of the host's environment is copied. If skill is empty, SKILL_NAME is left out.
// If skillDir is no result of [Local.Stage], HOME and PATH are those without a skill. The order
// is always the same.
func Env(base, skill, skillDir string) []string {
	at := func(dir string) string { return filepath.Join(base, filepath.FromSlash(dir)) }
	search, home := SystemPath, homeDir
	if checkSkillDir(skillDir) == nil {
		home = homeOf(skillDir)
		search = at(skillDir+"/"+venvName+"/bin") + string(filepath.ListSeparator) + search
	}
	env := []string{
		"PATH=" + search,
		"HOME=" + at(home),
		"TMPDIR=" + at(tempDir),
		"LANG=C.UTF-8",
	}
	for _, v := range variables {
		env = append(env, v.name+"="+at(v.dir))
	}
	if skill != "" {
		env = append(env, "SKILL_NAME="+withoutControls(skill))
	}
	return env
}

// SeenAt returns the path at which commands see a workspace: at, or the path of the workspace if
// at is empty. It fails if lists of paths, such as PATH, cannot hold it.
func SeenAt(at string, ws Workspace) (string, error) {
	at = cmp.Or(at, ws.Path())
	if strings.ContainsRune(at, filepath.ListSeparator) {
		return "", fmt.Errorf("the path of the workspace holds %q, which cannot be part of PATH", filepath.ListSeparator)
	}
	return at, nil
}

// homeOf returns the HOME of a skill, given its directory.
func homeOf(skillDir string) string { return homeDir + "/" + path.Base(skillDir) }

func withoutControls(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// linksDir holds links to programs that skills call by another name than the system does. It
// is the last directory of PATH, so a real program of that name is found first. It is below
// skills/ because a sandbox lets no command write there. No skill's directory begins with a
// dot.
const linksDir = skillsDir + "/.bin"

// python3 returns the path of the system's python3 if the system has no python, else "". It
// searches once in a process.
var python3 = sync.OnceValue(func() string {
	if systemProgram("python") != "" {
		return ""
	}
	return systemProgram("python3")
})

// systemProgram returns the path of a program in a directory of SystemPath, or "".
func systemProgram(name string) string {
	for _, dir := range filepath.SplitList(SystemPath) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return file
		}
	}
	return ""
}

// LastPath returns the last directory of PATH for a command that sees the workspace at base.
// The directory holds a link python to python3. If the system needs no such link, or PATH cannot
// hold base, LastPath returns "".
func LastPath(base string) string {
	if python3() == "" || strings.ContainsRune(base, filepath.ListSeparator) {
		return ""
	}
	return filepath.Join(base, filepath.FromSlash(linksDir))
}

// linkPrograms makes the links of linksDir and restores those that a command has changed.
func (ws *Local) linkPrograms() error {
	target := python3()
	if target == "" {
		return nil
	}
	link := linksDir + "/python"
	if at, err := ws.root.Readlink(link); err == nil && at == target {
		return nil
	}
	if err := repairDir(ws.root, linksDir); err != nil {
		return err
	}
	dir, err := openDir(ws.root, linksDir, false)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := removeAll(dir, "python"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := dir.Symlink(target, "python"); err != nil {
		return cause(err)
	}
	return nil
}
