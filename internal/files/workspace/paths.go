package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// Dir returns the directory in which a command of a staged skill runs, relative to the
// workspace. skillDir is the result of [Local.Stage]. cwd is the wanted directory:
//
//   - empty: the directory of the skill
//   - a relative path: below the directory of the skill, where out, work and
//     inputs are those of the workspace
//   - a path that begins with a variable: $WORK_DIR, $OUTPUT_DIR, $SKILLS_DIR,
//     $RUN_DIR or $WORKSPACE_DIR, also written ${WORK_DIR} and so on
//
// A missing directory below work/, out/ or runs/ is made; elsewhere it is [ErrNotExist]. An
// absolute path, one with "..", and one that leaves the workspace through a link is [ErrPath].
// Something that is not a directory is [ErrNotRegular]. Dir also repairs the workspace's own
// directories if a command has removed or replaced them, so call it before each command.
func (ws *Local) Dir(skillDir, cwd string) (string, error) {
	dir, err := resolveCwd(skillDir, cwd)
	if err == nil {
		err = ws.repair()
	}
	if err == nil {
		err = ws.checkDir(dir)
	}
	if err != nil {
		return "", fmt.Errorf("working directory %q: %w", cwd, err)
	}
	return dir, nil
}

// resolveCwd applies the rules of Dir that need no file system.
func resolveCwd(skillDir, cwd string) (string, error) {
	if err := checkSkillDir(skillDir); err != nil {
		return "", err
	}
	if cwd == "" {
		return skillDir, nil
	}
	if path.IsAbs(cwd) {
		return "", fmt.Errorf("%w: give one that is relative to the skill or begins with %s", ErrPath, variableHint)
	}
	// Check the path before its variable is cut off, because the rest may be absolute.
	if err := checkRelative(cwd); err != nil {
		return "", err
	}
	expanded, ok, err := expand(cwd)
	if err != nil || ok {
		return expanded, err
	}
	return belowSkill(skillDir, cwd), nil
}

// belowSkill resolves a path below the directory of a skill, through the links out, work and
// inputs.
func belowSkill(skillDir, rel string) string {
	rel = path.Clean(rel)
	first, rest, _ := strings.Cut(rel, "/")
	for _, l := range skillLinks {
		if first == l.name {
			return path.Join(strings.TrimPrefix(l.target, "../../"), rest)
		}
	}
	return path.Join(skillDir, rel)
}

// checkSkillDir returns ErrPath unless dir has the form that Stage returns.
func checkSkillDir(dir string) error {
	name, ok := strings.CutPrefix(dir, skillsDir+"/")
	if !ok || name == "" || strings.Contains(name, "/") || strings.HasPrefix(name, ".") || checkRelative(dir) != nil {
		return fmt.Errorf("%w: %q is not the directory of a staged skill", ErrPath, dir)
	}
	return nil
}

// isWritable reports whether commands may write to a path of the workspace.
func isWritable(rel string) bool {
	first, _, _ := strings.Cut(rel, "/")
	return first == workDir || first == outDir || first == runsDir
}

// checkDir checks that a directory exists. It makes a missing one where commands may write.
func (ws *Local) checkDir(dir string) error {
	info, err := ws.root.Stat(filepath.FromSlash(dir))
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%w: it is %s, not a directory", ErrNotRegular, plainfile.Kind(info.Mode()))
	}
	if err == nil {
		return nil
	}
	if err = cause(err); !errors.Is(err, ErrNotExist) || !isWritable(dir) {
		return err
	}
	made, err := openDir(ws.root, dir, true)
	if err != nil {
		return err
	}
	return made.Close()
}

// checkRelative checks a slash-separated path from outside by its text alone. The path must be
// relative and valid UTF-8 of at most 1024 bytes, without control characters and ".."
// elements. It must not contain backslashes, which separate elements on one system and are
// part of a name on others.
func checkRelative(p string) error {
	switch {
	case p == "":
		return fmt.Errorf("%w: it is empty", ErrPath)
	case len(p) > maxPath:
		return fmt.Errorf("%w: it is longer than %d bytes", ErrPath, maxPath)
	case !utf8.ValidString(p) || strings.ContainsFunc(p, unicode.IsControl):
		return fmt.Errorf("%w: it holds control characters or invalid UTF-8", ErrPath)
	case strings.Contains(p, `\`):
		return fmt.Errorf("%w: use / between the elements", ErrPath)
	case path.IsAbs(p):
		return fmt.Errorf("%w: it must be relative", ErrPath)
	case slices.Contains(strings.Split(p, "/"), ".."):
		return fmt.Errorf("%w: it must not contain ..", ErrPath)
	case !filepath.IsLocal(filepath.FromSlash(p)):
		return fmt.Errorf("%w: it leaves its place", ErrPath)
	}
	return nil
}

// variables are the variables with which a path may begin, and their directories in the
// workspace. Commands have the same variables: see [Env].
var variables = []struct{ name, dir string }{
	{"WORKSPACE_DIR", "."},
	{"SKILLS_DIR", skillsDir},
	{"WORK_DIR", workDir},
	{"OUTPUT_DIR", outDir},
	{"RUN_DIR", runsDir},
}

const variableHint = "$WORK_DIR, $OUTPUT_DIR, $SKILLS_DIR, $RUN_DIR or $WORKSPACE_DIR"

// expand replaces a leading $NAME or ${NAME} and reports whether there was one.
func expand(p string) (string, bool, error) {
	after, ok := strings.CutPrefix(p, "$")
	if !ok {
		return p, false, nil
	}
	first, rest, _ := strings.Cut(after, "/")
	name := first
	if inner, ok := strings.CutPrefix(first, "{"); ok {
		name, ok = strings.CutSuffix(inner, "}")
		if !ok {
			name = ""
		}
	}
	for _, v := range variables {
		if v.name == name {
			return path.Join(v.dir, strings.TrimLeft(rest, "/")), true, nil
		}
	}
	return "", false, fmt.Errorf("%w: it may begin with %s", ErrPath, variableHint)
}

// skillDirName returns the name of a skill's directory below skills/. A name that the Agent
// Skills specification allows is used unchanged: lower-case letters, digits and single hyphens
// between them. So is an id of a skills server: segments of these characters and "_", joined by
// dots. Any other name becomes its readable part, "_" and a hash of the name. So no two names
// share a directory, not even on file systems that ignore case.
func skillDirName(name string) string {
	if isPlainName(name) || isID(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return readable(name) + "_" + hex.EncodeToString(sum[:6])
}

// readable returns the ASCII letters and digits of a name, in lower case and with a hyphen for
// each gap between them.
func readable(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	stem := strings.Join(words, "-")
	stem = strings.Trim(stem[:min(len(stem), maxStem)], "-")
	if stem == "" {
		return "skill"
	}
	return stem
}

// isID reports whether a name is an id that cannot be mistaken for a name with a
// hash.
func isID(name string) bool {
	if name == "" || len(name) > maxID || hashedName.MatchString(name) {
		return false
	}
	for part := range strings.SplitSeq(name, ".") {
		if !idSegment.MatchString(part) || isDeviceName(part) {
			return false
		}
	}
	return true
}

var (
	idSegment  = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?$`)
	hashedName = regexp.MustCompile(`_[0-9a-f]{12}$`)
)

// isPlainName reports whether a skill's name can be the name of its directory unchanged.
func isPlainName(name string) bool {
	if name == "" || len(name) > maxPlainName || strings.Contains(name, "--") ||
		strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-") || isDeviceName(name) {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// isDeviceName reports whether Windows takes a lower-case name for a device, in any directory.
func isDeviceName(name string) bool {
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && (strings.HasPrefix(name, "com") || strings.HasPrefix(name, "lpt")) &&
		name[3] >= '0' && name[3] <= '9'
}

// hostDir is a directory of the host from which inputs may come.
type hostDir struct {
	configured string // from the option, cleaned
	real       string // with links resolved
}

// resolveHostDirs checks that the directories exist.
func resolveHostDirs(dirs []string) ([]hostDir, error) {
	var all []hostDir
	for _, dir := range dirs {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, fmt.Errorf("host directory %q: %w", dir, err)
		}
		info, err := os.Stat(real)
		if err != nil {
			return nil, fmt.Errorf("host directory %q: %w", dir, err)
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("host directory %q: %w: it is %s", dir, ErrNotRegular, plainfile.Kind(info.Mode()))
		}
		all = append(all, hostDir{configured: filepath.Clean(dir), real: real})
	}
	return all, nil
}

// openHost opens the allowed directory that contains an absolute path, and returns the path
// relative to it. The caller closes the directory. Of nested allowed directories it opens the
// innermost, which links cannot leave.
func (w *Workspaces) openHost(slashed string) (*os.Root, string, error) {
	wanted := filepath.FromSlash(slashed)
	innermost, innerRel := "", ""
	for _, dir := range w.hosts {
		for _, form := range []string{dir.configured, dir.real} {
			rel, err := filepath.Rel(form, wanted)
			if err == nil && filepath.IsLocal(rel) && len(dir.real) > len(innermost) {
				innermost, innerRel = dir.real, rel
			}
		}
	}
	if innermost == "" {
		return nil, "", w.hostRefused()
	}
	root, err := os.OpenRoot(innermost)
	if err != nil {
		return nil, "", cause(err)
	}
	return root, filepath.ToSlash(innerRel), nil
}

func (w *Workspaces) hostRefused() error {
	if len(w.hosts) == 0 {
		return fmt.Errorf("%w: files of the host are not enabled", ErrSource)
	}
	var allowed []string
	for _, dir := range w.hosts {
		allowed = append(allowed, fmt.Sprintf("%q", dir.configured))
	}
	return fmt.Errorf("%w: files of the host must be below %s", ErrSource, strings.Join(allowed, " or "))
}
