package catalog

import (
	"context"
	"log/slog"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/skillmd"
)

// The codes of diagnostics that a host may want to handle in its own way.
const (
	// CodeUnreadable says that a SKILL.md or a directory cannot be read, or that an entry of a
	// source cannot be used. The SKILL.md may be too large, no regular file, or a link that
	// leads nowhere or out of the root.
	CodeUnreadable = scan.CodeUnreadable
	// CodeCollision says that two skills have the same name, and how the other one loads.
	CodeCollision skillmd.Code = "name-collision"
	// CodeNoFile says that a folder has a skill.toml and no SKILL.md.
	CodeNoFile = scan.CodeNoFile
	// CodeSourceFailed says that a root could not be searched. The skills that it listed last
	// are used.
	CodeSourceFailed = scan.CodeSourceFailed
	// CodeNoSkills says that a root exists and holds no skill.
	CodeNoSkills = scan.CodeNoSkills
	// CodeUntrusted says that the skills of a project were not searched, because the user has
	// not trusted it.
	CodeUntrusted skillmd.Code = "untrusted-root"
)

const (
	// codeSameRoot says that a root is the same directory as an earlier one.
	codeSameRoot skillmd.Code = "same-root"
	// codeWatchLimited says that not all folders can be watched. The catalog notices changes in
	// the others only when it polls.
	codeWatchLimited skillmd.Code = "watch-limited"
)

// isLogged reports whether a finding is logged as a warning: it hides a skill or a root, or
// says that one may be missing.
func isLogged(d skillmd.Diagnostic) bool {
	switch d.Code {
	case CodeCollision, scan.CodeLimit, CodeUnreadable, CodeNoSkills, scan.CodeLink, CodeUntrusted, scan.CodeStale, CodeNoFile:
		return true
	}
	return d.Severity == skillmd.Error
}

// logDiagnostics logs the diagnostics of snapshot s that the snapshot before it did not have.
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
		logger.LogAttrs(ctx, level, d.Message, attrsOf(d)...)
	}
	logger.DebugContext(ctx, "catalog scanned", "skills", len(s.skills), "diagnostics", len(s.diagnostics))
}

// attrsOf returns the attributes of the log line of a finding. The last one says what to do.
func attrsOf(d skillmd.Diagnostic) []slog.Attr {
	attrs := []slog.Attr{slog.String("file", d.File), slog.String("code", string(d.Code))}
	if d.Line > 0 {
		attrs = append(attrs, slog.Int("line", d.Line))
	}
	todo := ""
	switch d.Code {
	case CodeNoSkills:
		todo = "put folders with a SKILL.md there, or name another place"
	case CodeUntrusted:
		todo = "trust it with satchel trust or catalog.WithTrust"
	case CodeCollision:
		todo = "rename one of the skills"
	case CodeNoFile:
		todo = "write a SKILL.md, or remove the folder"
	case CodeUnreadable:
		todo = "put something there that can be read, or remove it"
	case scan.CodeLink:
		todo = "put the files in the place of the link"
	case scan.CodeLimit:
		todo = "raise the limit in source.Reading, or divide the place"
	case scan.CodeStale:
		todo = "correct the address, or make the host reachable"
	default:
		if d.Severity == skillmd.Error {
			todo = "satchel inspect says more"
		}
	}
	if todo != "" {
		attrs = append(attrs, slog.String("todo", todo))
	}
	return attrs
}
