package core

import "time"

// EventKind says what happened.
type EventKind string

// The events that Satchel and its adapters report to the host's hook.
const (
	TurnBegun      EventKind = "turn.begun"      // a user turn began: lifetimes ended
	SkillLoaded    EventKind = "skill.loaded"    // Skill, Docs, Digest
	SkillUnloaded  EventKind = "skill.unloaded"  // Skill
	SkillEvicted   EventKind = "skill.evicted"   // Skill, by the cap
	DocsSelected   EventKind = "docs.selected"   // Skill, Docs: the selection after the call
	CatalogChanged EventKind = "catalog.changed" // Detail: the note
	ToolCalled     EventKind = "tool.called"     // Call, Detail: the answer, Duration
	ToolAllowed    EventKind = "tool.allowed"    // Call, Skill and Rule if a list has it, Detail: why
	ToolAsked      EventKind = "tool.asked"      // Call, Detail: why; the answer is an event of its own
	ToolDenied     EventKind = "tool.denied"     // Call, Detail: the reason
	ModelCalled    EventKind = "model.called"    // Usage, Duration
	ModelFailed    EventKind = "model.failed"    // Detail: the error
	PrefixBroken   EventKind = "prefix.broken"   // Detail: where, why and at what cost

	// The steps of a run, each with its Duration and, in Detail, what it was
	// about.
	WorkspaceCreate  EventKind = "workspace.create"  // the session's workspace was opened
	WorkspaceStage   EventKind = "workspace.stage"   // the skill and its inputs were staged
	WorkspaceRun     EventKind = "workspace.run"     // the command ended, in whatever way; Detail: its reason, and the error if there is one
	WorkspaceCollect EventKind = "workspace.collect" // the outputs were found and saved; Detail: why some were not saved
	WorkspaceInline  EventKind = "workspace.inline"  // the answer was written
	WorkspaceCleanup EventKind = "workspace.cleanup" // the session's workspace was removed; Detail: "idle" if it ended by itself
)

// Event is one thing that happened, for logs, metrics and accounting. Which
// fields are set depends on the kind.
type Event struct {
	Kind     EventKind
	Key      SessionKey
	Skill    string
	Docs     []string
	Digest   string
	Rule     string
	Call     ToolCall
	Usage    Usage
	Duration time.Duration
	Detail   string
}

// Usage counts the tokens of one model call as the provider reported them;
// zero where it did not.
type Usage struct {
	Prompt     int
	Cached     int
	Completion int
}
