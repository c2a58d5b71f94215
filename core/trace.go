package core

import "time"

// ModelRequest is a request as an adapter sends it to the model. The adapter does not change it, or what it
// refers to, after it has reported it.
type ModelRequest struct {
	// ID distinguishes the requests of a runtime. The runtime sets it.
	ID  uint64
	Key SessionKey
	// View is that of the [View] from which the request was made.
	View ViewTrace
	// Model is the name of the model, or "" if the adapter does not know it.
	Model string
	// Messages are all messages of the request, and Tools its tools, in the order in which they
	// are sent. Text, Role, Calls, CallID and Tool of the messages are set.
	Messages []Message
	Tools    []Definition
	// Files are the parts of the messages that are no text, such as pictures, in the order in which they are
	// sent. Origin is the index of the message in Messages. MIME is image/*, audio/* or video/* if only the kind
	// is known.
	Files []File
	// ModelCall and IsSubagent are those of [Event], with this request as the last call. The runtime
	// sets them.
	ModelCall  int
	IsSubagent bool
}

// ViewTrace describes a view for a tracer.
type ViewTrace struct {
	// Turn is the number of the user turn, from 1. Fork is the name of the skill that runs as an
	// agent of its own, or "".
	Turn int
	Fork string
	// Prompt is the last message of the user, as the host has it.
	Prompt string
	// Texts are the texts of Satchel's in the view, in the order of the messages.
	Texts []PlacedText
}

// PlacedText says where a text of Satchel's stands in a view.
type PlacedText struct {
	// Skill is the skill that the text belongs to, and Doc the doc of it. Doc is "" for the body.
	// Both are "" for the overview and the notes that belong to it.
	Skill, Doc string
	// Load is the number of the load that brought the text into the view, or 0 for the overview and
	// for preloaded skills. Loads of an agent have different numbers.
	Load int
	// LoadedBy is the number of the model call that loaded the text, or 0 if it is not known. A load
	// before a request belongs to that request.
	LoadedBy int
	// Message is the index of the message in the view, and Start and End are bytes of its Text. They
	// include the separator before the text. A body has a second range if a list of files follows
	// its docs.
	Message, Start, End int
	// Mode is the load mode of the runtime. Leaves says when it will leave the requests: "turn",
	// "next call", "when it pays", "unload" or "never".
	Mode, Leaves string
}

// ModelAnswer is what the model answered to a [ModelRequest].
type ModelAnswer struct {
	// ID is that of the request.
	ID    uint64
	Key   SessionKey
	Text  string
	Calls []ToolCall
	// Alternatives are the further answers, if the host requested several. They have a text and calls.
	Alternatives []Message
	// Usage is that of all answers together.
	Usage    Usage
	Duration time.Duration
	// Err is why there is no answer, or nil.
	Err error
}

// CommandReport describes a command that has ended. It contains no secrets of the runtime.
type CommandReport struct {
	Command  string
	TimedOut bool
	// Files are the outputs that were found, by paths in the workspace.
	Files []OutputFile
	// Limits are the limits that applied, by their names: timeout_ms, cpu_ms, memory_bytes, file_bytes,
	// disk_bytes, processes, output_bytes and output_total_bytes.
	Limits map[string]int64
}

// OutputFile is the path and the size of a file, in bytes.
type OutputFile struct {
	Path string `json:"path"`
	Size int64  `json:"bytes"`
}
