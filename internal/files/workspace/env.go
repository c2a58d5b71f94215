package workspace

import (
	"path"
	"path/filepath"
	"strings"
	"unicode"
)

// SystemPath is where the programs of commands are looked up, whatever the PATH
// of this process is.
const SystemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Env returns the whole environment of a command as "NAME=value", for a workspace that the
// command sees at base. It has WORKSPACE_DIR, SKILLS_DIR, WORK_DIR, OUTPUT_DIR and RUN_DIR.
// Its TMPDIR is below RUN_DIR and contains a HOME for each skill. PATH has the skill's
// .venv/bin before the system's directories. LANG is C.UTF-8. SKILL_NAME has no control
// characters. Nothing of the host's environment is in it. Without skill, or with a skillDir
// that [Local.Stage] cannot have returned, the variables about it are left out. The order is
// always the same.
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
