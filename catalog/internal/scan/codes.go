package scan

import "github.com/satchel-go/satchel/skillmd"

// The codes of the diagnostics that a search adds to those of package skillmd.
const (
	// CodeUnreadable says that a SKILL.md or a directory cannot be read, or that an entry of a
	// source cannot be used. The SKILL.md may be too large, no regular file, or a link that
	// leads nowhere or out of the root.
	CodeUnreadable skillmd.Code = "unreadable"
	// CodeFileName says that a SKILL.md is spelled in another case.
	CodeFileName skillmd.Code = "file-name"
	// CodeNested says that SKILL.md files inside a skill are ignored.
	CodeNested skillmd.Code = "nested-skills"
	// CodeLink says that a link is not followed, or leads nowhere.
	CodeLink skillmd.Code = "link-not-followed"
	// CodeLimit says that a limit of the search was reached, so skills may be missing.
	CodeLimit skillmd.Code = "search-limit"
	// CodeNoFile says that a folder has a skill.toml and no SKILL.md.
	CodeNoFile skillmd.Code = "skill-file-missing"
	// CodeSourceFailed says that a root could not be searched. The skills that it listed last
	// are used.
	CodeSourceFailed skillmd.Code = "source-failed"
	// CodeNoSkills says that a root exists and holds no skill.
	CodeNoSkills skillmd.Code = "no-skills"
	// CodeStale says that an archive cannot be fetched. The one that was fetched last is used.
	CodeStale skillmd.Code = "archive-stale"
	// CodePlugin says that the plugin.json of a plugin cannot be used. The plugin is called by
	// its folder.
	CodePlugin skillmd.Code = "plugin-manifest"
)

// NoSkills returns the finding about a root that was searched and has no skill. name stands in
// front of its locations, and root is what the host called it.
func NoSkills(name, root string) skillmd.Diagnostic {
	return skillmd.Diagnostic{File: name, Code: CodeNoSkills, Severity: skillmd.Warning, Message: "no skills found in " + Printable(root)}
}
