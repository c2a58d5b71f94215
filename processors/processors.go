// Package processors has the settings of a host for requests to the model: the text of the
// overview, where loaded content goes, and what happens at a summary. It also describes breaks
// of the prompt cache's prefix, and can fail a test at one.
package processors

// Placement says where loaded content goes. The zero value leaves that to the runtime.
type Placement uint8

const (
	// InToolResult is the default. It puts content into the result of the call that loaded it, so that
	// requests only grow at their end.
	InToolResult Placement = iota + 1
	// InSystem puts all content after the host's system text. Each load then changes the
	// beginning of the request.
	InSystem
)

// SummaryRule says what happens to loaded content whose message is missing
// from a request in which a summary replaces part of the history.
type SummaryRule uint8

const (
	// SummaryAuto is the default. It attaches content whose message the summary removed. It skips
	// content that no message of this conversation contained.
	SummaryAuto SummaryRule = iota
	// SummaryAttach attaches all of it.
	SummaryAttach
	// SummarySkip attaches none of it.
	SummarySkip
)
