package catalog

import (
	"context"
	"log/slog"

	"github.com/satchel-go/satchel/skillmd"
)

// Codes of the diagnostics that the search for skills adds to those of
// package skillmd.
const (
	// CodeUnreadable: a SKILL.md or a directory cannot be read, or a SKILL.md
	// is too large, no regular file, or a link that leads nowhere or outside.
	CodeUnreadable skillmd.Code = "unreadable"
	// CodeFileName: a SKILL.md is spelled in another case.
	CodeFileName skillmd.Code = "file-name"
	// CodeCollision: two skills have the same name; one is not in the catalog.
	CodeCollision skillmd.Code = "name-collision"
	// CodeNested: SKILL.md files inside a skill are ignored.
	CodeNested skillmd.Code = "nested-skills"
	// CodeLink: links to directories are not followed.
	CodeLink skillmd.Code = "link-not-followed"
	// CodeLimit: a limit of the search was reached; skills may be missing.
	CodeLimit skillmd.Code = "search-limit"
	// CodeSameRoot: a root is the same directory as an earlier one.
	CodeSameRoot skillmd.Code = "same-root"
)

// logDiagnostics reports what a new snapshot has to say.
func logDiagnostics(ctx context.Context, logger *slog.Logger, s *Snapshot) {
	for _, d := range s.diagnostics {
		level := slog.LevelDebug
		switch {
		case d.Severity == skillmd.Error, d.Code == CodeCollision, d.Code == CodeLimit, d.Code == CodeUnreadable:
			level = slog.LevelWarn
		}
		logger.LogAttrs(ctx, level, d.Message, slog.String("file", d.File), slog.Int("line", d.Line), slog.String("code", string(d.Code)))
	}
	logger.DebugContext(ctx, "catalog scanned", "skills", len(s.skills), "diagnostics", len(s.diagnostics))
}
