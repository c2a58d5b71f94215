// Package eventkind names the events that hosts only log or count. The kinds on which a
// program decides are constants of package core.
package eventkind

import "github.com/satchel-go/satchel/core"

// The events of the catalog and of loads.
const (
	CatalogScanned core.EventKind = "catalog.scanned" // Detail: counts; of no session
	CatalogChanged core.EventKind = "catalog.changed" // Detail: the note
	OverviewCut    core.EventKind = "overview.cut"    // Detail: how many skills have no room; of no session
	SearchByWords  core.EventKind = "search.bywords"  // Detail, Err: why the embedder had no part in a search
	DocsSelected   core.EventKind = "docs.selected"   // Skill, Docs: the selection after the call
	ContentBudget  core.EventKind = "content.budget"  // Detail: the text in view takes more than Loading.Budget.Warn
	LibraryChanged core.EventKind = "library.changed" // Skill, Digest of all its files, Detail: action, id, refs and subject
	LibraryRefused core.EventKind = "library.refused" // Skill as it was named, Detail: action, subject, code and reason
)

// The steps of a run, each with its Duration and, in Detail, what it was about.
const (
	WorkspaceCreate  core.EventKind = "workspace.create"  // the session's workspace was opened
	WorkspaceStage   core.EventKind = "workspace.stage"   // the skill and its inputs were staged
	WorkspaceRun     core.EventKind = "workspace.run"     // the command ended; ExitCode; Detail: its reason, and the error if there is one
	WorkspaceCollect core.EventKind = "workspace.collect" // the outputs were found; Saved, Detail: why some were not saved
	WorkspaceInline  core.EventKind = "workspace.inline"  // the answer was written
	WorkspaceCleanup core.EventKind = "workspace.cleanup" // the session's workspace was removed; Detail: "idle" if it ended by itself
)
