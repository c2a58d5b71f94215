package catalog

import (
	"context"
	"log/slog"

	"github.com/satchel-go/satchel/skillmd"
)

// The codes of the diagnostics that the search for skills adds to those of package
// skillmd.
const (
	// CodeUnreadable: a SKILL.md or a directory cannot be read. The SKILL.md may be
	// too large, not a regular file, or a link that leads nowhere or out of the
	// root; or a source has listed an entry that cannot be used.
	CodeUnreadable skillmd.Code = "unreadable"
	// codeFileName: a SKILL.md is spelled in another case.
	codeFileName skillmd.Code = "file-name"
	// CodeCollision: two skills have the same name; one is not in the catalog.
	CodeCollision skillmd.Code = "name-collision"
	// codeNested: SKILL.md files inside a skill are ignored.
	codeNested skillmd.Code = "nested-skills"
	// CodeLink: a link is not followed, or leads nowhere.
	CodeLink skillmd.Code = "link-not-followed"
	// CodeLimit: a limit of the search was reached; skills may be missing.
	CodeLimit skillmd.Code = "search-limit"
	// CodeNoFile: a folder has a skill.toml and no SKILL.md.
	CodeNoFile skillmd.Code = "skill-file-missing"
	// CodeSourceFailed: a root could not be searched; the skills that it listed last
	// are used.
	CodeSourceFailed skillmd.Code = "source-failed"
	// CodeNoSkills: a root that is there holds no skill.
	CodeNoSkills skillmd.Code = "no-skills"
	// codeSameRoot: a root is the same directory as an earlier one.
	codeSameRoot skillmd.Code = "same-root"
)

// isLogged reports whether a finding is logged as a warning: it hides a skill or a root, or
// says that one may be missing.
func isLogged(d skillmd.Diagnostic) bool {
	switch d.Code {
	case CodeCollision, CodeLimit, CodeUnreadable, CodeNoSkills, CodeLink, CodeUntrusted, CodeStale, CodeNoFile:
		return true
	}
	return d.Severity == skillmd.Error
}

// logDiagnostics logs the diagnostics of a new snapshot that the one before did not have.
func logDiagnostics(ctx context.Context, logger *slog.Logger, before, s *Snapshot) {
	known := make(map[skillmd.Diagnostic]bool)
	if before != nil {
		for _, d := range before.diagnostics {
			known[d] = true
		}
	}
	for _, d := range s.diagnostics {
		if known[d] {
			continue
		}
		level := slog.LevelDebug
		if isLogged(d) {
			level = slog.LevelWarn
		}
		logger.LogAttrs(ctx, level, d.Message, slog.String("file", d.File), slog.Int("line", d.Line), slog.String("code", string(d.Code)))
	}
	logger.DebugContext(ctx, "catalog scanned", "skills", len(s.skills), "diagnostics", len(s.diagnostics))
}
