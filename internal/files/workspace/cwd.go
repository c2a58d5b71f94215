package workspace

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// Dir returns the directory in which a command of a staged skill runs, relative to the
// workspace. SkillDir is what [Local.Stage] returned. Cwd is what the caller asked for:
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
	// Checked before a variable is cut off, so that nothing can hide behind it.
	if err := checkRelative(cwd); err != nil {
		return "", err
	}
	expanded, ok, err := expand(cwd)
	if err != nil || ok {
		return expanded, err
	}
	return belowSkill(skillDir, cwd), nil
}

// belowSkill resolves a path below the directory of a skill, following the links
// that are there.
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

// checkSkillDir checks that a directory is one that Stage returns.
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

// checkDir makes sure that a directory exists.
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
