package core

import "time"

// EventKind is the name of what happened, for example "skill.loaded".
type EventKind string

// The events of turns, skills, calls and requests. docs/events.md lists all events, with the
// fields that each of them sets.
const (
	TurnBegun EventKind = "turn.begun" // a user turn began; Prompt

	// SkillDiscovered is the first stage in the life of a skill; the other stages follow.
	// SkillDiscovered and SkillRegistered belong to no session. Only a host that asks for them by
	// name gets them.
	SkillDiscovered EventKind = "skill.discovered" // Skill, Detail: its location
	SkillRegistered EventKind = "skill.registered" // Skill, Detail: its location
	SkillActivated  EventKind = "skill.activated"  // Skill, before its load; Detail: "mention", "declared", "preload", "search" or "list"
	SkillLoaded     EventKind = "skill.loaded"     // Skill, Docs, Digest, By, Load, Tokens
	SkillNeeds      EventKind = "skill.needs"      // Skill, at its load; Detail: its needs that are not met
	SkillExecuting  EventKind = "skill.executing"  // Skill: the first request that contains its body
	SkillCompleted  EventKind = "skill.completed"  // Skill: its load has ended; Detail, why: "turn" (or the end of a fork), "answered", "unloaded", "evicted", "replaced", "withdrawn", "session" or "again" (the same turn begins a second time)
	SkillUnloaded   EventKind = "skill.unloaded"   // Skill, Detail: "withdrawn" by an audience, or "changed" if a newer text is loaded
	SkillEvicted    EventKind = "skill.evicted"    // Skill, by the cap
	TextCleared     EventKind = "text.cleared"     // Skill, Load, Docs, Digest if the body leaves too; Cause, Tokens, Rent, Price, Chance: what decided; Detail: the same as text

	ToolCalled  EventKind = "tool.called"  // Call, Detail: the answer, Duration; Refused
	ToolAllowed EventKind = "tool.allowed" // Call, Decider, Skill and Rule if a list has it, Detail: why
	ToolAsked   EventKind = "tool.asked"   // Call, Decider, Detail: why; the answer is an event of its own
	ToolDenied  EventKind = "tool.denied"  // Call, Decider, Detail: the reason

	ForkBegun EventKind = "fork.begun" // Skill: it begins to run as an agent of its own
	ForkEnded EventKind = "fork.ended" // Skill, Usage, Duration, Detail: why it did not finish; Err

	ModelCalled  EventKind = "model.called"  // Usage, Duration
	ModelFailed  EventKind = "model.failed"  // Detail: the error
	PrefixBroken EventKind = "prefix.broken" // Message, Cause, Tokens, Detail: where, why and at what cost
)

// The events that say what a model is offered, and what it does with it.
const (
	SkillsOffered   EventKind = "skills.offered"   // Skills: described; Named: by name only; Left: how many are in neither
	SkillsSuggested EventKind = "skills.suggested" // Skills
	SkillUsed       EventKind = "skill.used"       // Skill, Detail: "run", "doc" or "named" (in an answer)
	SkillNotFound   EventKind = "skill.not_found"  // Call, Detail: the name that the call has, Skills: similar names
	ToolApproval    EventKind = "tool.approval"    // Call, Approved, Detail: why; the answer of the approver
	CommandEnded    EventKind = "command.ended"    // Skill, ExitCode, Duration, Command, Detail: its reason, and the error if there is one
)

// The events of the catalog and of loads.
const (
	CatalogScanned EventKind = "catalog.scanned" // Detail: counts; belongs to no session
	CatalogChanged EventKind = "catalog.changed" // Detail: the note
	OverviewCut    EventKind = "overview.cut"    // Detail: how many skills have no room; belongs to no session
	SearchByWords  EventKind = "search.bywords"  // Detail, Err: why the embedder had no part in a search
	DocsSelected   EventKind = "docs.selected"   // Skill, Load, Tokens, Docs: the selection after the call
	ContentBudget  EventKind = "content.budget"  // Detail: the text in view takes more than Loading.Budget.Warn
	LibraryChanged EventKind = "library.changed" // Skill, Digest of all its files, Detail: action, id, refs and subject
	LibraryRefused EventKind = "library.refused" // Skill as it was named, Detail: action, subject, code and reason
)

// The steps of a run. Each has its Duration, and a Detail about what it worked on.
const (
	WorkspaceCreate  EventKind = "workspace.create"  // the session's workspace was opened
	WorkspaceStage   EventKind = "workspace.stage"   // the skill and its inputs were staged
	WorkspaceRun     EventKind = "workspace.run"     // the command ended; ExitCode; Detail: its reason, and the error if there is one
	WorkspaceCollect EventKind = "workspace.collect" // the outputs were found; Saved, Detail: why some were not saved
	WorkspaceInline  EventKind = "workspace.inline"  // the answer was written
	WorkspaceCleanup EventKind = "workspace.cleanup" // the session's workspace was removed; Detail: "idle" if it ended by itself
)

// Phase returns the stage in the life of a skill that events of this kind report: "discovered",
// "registered", "activated", "loaded", "executing" or "completed". It returns "" for other
// events.
func (k EventKind) Phase() string {
	switch k {
	case SkillDiscovered, CatalogScanned:
		return "discovered"
	case SkillRegistered:
		return "registered"
	case SkillActivated:
		return "activated"
	case SkillLoaded:
		return "loaded"
	case SkillExecuting:
		return "executing"
	case SkillCompleted:
		return "completed"
	}
	return ""
}

// Event is one thing that happened, for logs, metrics and accounting. Which
// fields are set depends on the kind.
type Event struct {
	Kind EventKind
	// Phase is Kind.Phase(); the runtime sets it.
	Phase string
	// Time is when the event happened; if it has a Duration, when that ended. The runtime sets
	// it.
	Time time.Time
	// Key is the session and the agent, or zero for an event without a session.
	Key SessionKey
	// Turn is the number of the user turn in which the event happened, from 1, or 0 if it is not
	// known. The runtime sets it.
	Turn int
	// Fork is the name of the skill that ran as an agent of its own, or was about to, when the event
	// happened. Turn is then the turn of the agent that loaded the skill. The runtime sets it.
	Fork string
	// ModelCall is the number of the agent's last model call before the event, from 1, and 0 before the
	// first. It counts the calls of the session in all processes. IsSubagent reports that another agent
	// of the session came first. The runtime sets both for a tracer only.
	ModelCall  int
	IsSubagent bool
	// Prompt is the last message of the user where a turn begins, as the host has it. Only the tracer
	// gets it.
	Prompt string
	// Skill is the name of a skill, and Docs are docs of it. Digest is the hex SHA-256 of its
	// body, unless the kind says otherwise.
	Skill  string
	Docs   []string
	Digest string
	// By says who asked for a load: "model", "user" or "host". Load is the number of the load among
	// those of its agent, or 0 for a preloaded skill. [PlacedText] has the same number.
	By   string
	Load int
	// Skills are names of skills. Named are names that an overview has no description for, and Left
	// counts those that it does not have at all.
	Skills, Named []string
	Left          int
	// Approved is the answer of the approver.
	Approved bool
	// Command describes a command that has ended, or is nil.
	Command *CommandReport
	// Rule is the entry of allowed-tools that allowed the call. Decider says in a few words what
	// decided about the call, for example "allowed-tools of pdf". A decision always has one.
	Rule, Decider string
	// Call is the tool call, or the call of one of Satchel's tools during which the event
	// happened.
	Call ToolCall
	// Usage are the tokens of a model call.
	Usage    Usage
	Duration time.Duration
	// Detail is a text for people; what it is about depends on the kind.
	Detail string
	// ExitCode is that of a command that has ended, or nil. A signal has the exit code 128 plus
	// its number.
	ExitCode *int
	// Refused reports that a call of one of Satchel's tools changed and ran nothing. The gate
	// denied it, or its arguments or the loaded skills did not allow it.
	Refused bool
	// Saved are the artifacts that a run has saved.
	Saved []Saved
	// Message is the index of the first message that differs in a request with a broken prefix, or -1
	// for the tools.
	Message int
	// Cause is why a prefix broke, or why a text leaves: "unload" because its load has ended, "budget",
	// "break" of the prefix, or prices: "rent" and "expectation". Tokens estimates what is sent again,
	// or what all texts of the load took if prices have decided. For a load it estimates the texts that
	// the load brings. Rent is the cost of carrying texts so far. Price is the cost of clearing them and
	// loading them again. Both are in uncached input tokens. Chance is the chance that a turn needs one
	// of their skills.
	Cause               string
	Tokens              int
	Rent, Price, Chance float64
	// Err is the error of what failed, or nil. It is for the host only: it may contain paths and
	// names of servers, which a model must not see.
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
	Prompt     int // of the request, including Cached
	Cached     int // of the request, read from the provider's cache
	Completion int // of the response
}
