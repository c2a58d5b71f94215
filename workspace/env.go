package workspace

import (
	"path/filepath"
	"strings"
	"unicode"
)

// systemPath is where programs are looked up, whatever the host's PATH says.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Env is [Env] for the workspace at its path on the host.
func (ws *Workspace) Env(skill, skillDir string) []string { return Env(ws.path, skill, skillDir) }

// Env returns the whole environment of a command as "NAME=value", for a
// workspace that the command sees at base: WORKSPACE_DIR, SKILLS_DIR, WORK_DIR,
// OUTPUT_DIR and RUN_DIR, a HOME and a TMPDIR below RUN_DIR, a PATH of the
// system's directories after the skill's .venv/bin, LANG=C.UTF-8 and
// SKILL_NAME. Nothing of the host's environment is in it. Without skill, or
// with a skillDir that [Workspace.Stage] cannot have returned, the parts that
// are about it are left out. Control characters in the name are left out too.
// The order is always the same.
func Env(base, skill, skillDir string) []string {
	at := func(dir string) string { return filepath.Join(base, filepath.FromSlash(dir)) }
	search := systemPath
	if checkSkillDir(skillDir) == nil {
		search = at(skillDir+"/"+venvName+"/bin") + string(filepath.ListSeparator) + search
	}
	env := []string{
		"PATH=" + search,
		"HOME=" + at(homeDir),
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

func withoutControls(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}
