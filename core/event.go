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
	ContentBudget  EventKind = "content.budget"  // Detail: the text of skills in view has become more than Loading.Budget.Warn
	CatalogScanned EventKind = "catalog.scanned" // the skills were searched and have changed; Detail: counts; of no session

	// The stations of a skill, each with the Phase of its name. SkillDiscovered and
	// SkillRegistered are reported only where the host wants the lifecycle, and are of
	// no session.
	SkillDiscovered EventKind = "skill.discovered" // Skill, Detail: its location
	SkillRegistered EventKind = "skill.registered" // Skill, Detail: its location
	SkillActivated  EventKind = "skill.activated"  // Skill, before its load; Detail: "mention", "declared", "search" or "list"
	SkillExecuting  EventKind = "skill.executing"  // Skill: the first request that contains its body
	SkillCompleted  EventKind = "skill.completed"  // Skill: its load has ended; Detail: "turn", "answered", "unloaded", "evicted", "replaced", "session" or "again" (the turn is begun again)

	CatalogChanged EventKind = "catalog.changed" // Detail: the note
	LibraryChanged EventKind = "library.changed" // a skill of a library was edited; Skill, Digest: of all its files, Detail: the action, id, refs and subject
	LibraryRefused EventKind = "library.refused" // an edit was not made; Skill: as it was named, Detail: the action, subject, code and reason
	SearchByWords  EventKind = "search.bywords"  // Detail, Err: why the embedder had no part in a search
	OverviewCut    EventKind = "overview.cut"    // Detail: how many skills have no room in the overview; of no session
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
	WorkspaceCollect EventKind = "workspace.collect" // the outputs were found; Saved, Detail: why some were not saved
	WorkspaceInline  EventKind = "workspace.inline"  // the answer was written
	WorkspaceCleanup EventKind = "workspace.cleanup" // the session's workspace was removed; Detail: "idle" if it ended by itself
)

// Phase is where a skill is in its life.
type Phase string

// The phases, in their order.
const (
	Discovered Phase = "discovered"
	Registered Phase = "registered"
	Activated  Phase = "activated"
	Loaded     Phase = "loaded"
	Executing  Phase = "executing"
	Completed  Phase = "completed"
)

// Phase returns the phase that an event of this kind tells of, "" for none.
func (k EventKind) Phase() Phase {
	switch k {
	case CatalogScanned, SkillDiscovered:
		return Discovered
	case SkillRegistered:
		return Registered
	case SkillActivated:
		return Activated
	case SkillLoaded:
		return Loaded
	case SkillExecuting:
		return Executing
	case SkillCompleted:
		return Completed
	}
	return ""
}

// Event is one thing that happened, for logs, metrics and accounting. Which
// fields are set depends on the kind.
type Event struct {
	Kind EventKind
	// Phase is Kind.Phase(); the runtime sets it.
	Phase Phase
	// Time is when it happened; of what took a Duration, when it ended. The runtime
	// sets it.
	Time time.Time
	// Key is the session and the agent; zero for what is of no session.
	Key SessionKey
	// Turn is the number of the user turn in which it happened, from 1; 0 where that is
	// not known. The runtime sets it.
	Turn int
	// Skill is the name of a skill, Docs are docs of it, and Digest is a hex SHA-256: of
	// its body, unless the kind says otherwise.
	Skill  string
	Docs   []string
	Digest string
	// Rule is the entry of allowed-tools that let the call pass.
	Rule string
	// Call is the tool call; of what happened during a call of one of the runtime's own
	// tools, that call.
	Call ToolCall
	// Usage are the tokens of a model call.
	Usage    Usage
	Duration time.Duration
	// Detail is a text for people; what it is about depends on the kind.
	Detail string
	// Saved are the artifacts that a run has saved.
	Saved []Saved
	// Err is why it failed, nil where it did not. It is for the host: it may hold
	// what a model must not see, such as paths and names of servers.
	Err error
}

// Saved is a version of an artifact.
type Saved struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	Ref     string `json:"ref"` // names the version, for example "artifact://report.csv@2"
}

// Usage counts the tokens of one model call as the provider reported them. A count
// that it did not report is zero.
type Usage struct {
	Prompt     int // of the request, those in the cache included
	Cached     int // of these, what the provider's cache held
	Completion int // of the response
}
