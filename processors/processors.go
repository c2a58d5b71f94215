// Package processors holds what a host decides about requests to the model: the
// text of the overview, where loaded content goes, and what a summary of the
// history hides. It also describes breaks of the prompt cache, and fails a test at
// one.
package processors

// Placement says where loaded content goes. The zero value leaves that to the runtime.
type Placement uint8

const (
	// InToolResult puts content into the result of the call that delivered
	// it, so that requests only grow at their end. The default.
	InToolResult Placement = iota + 1
	// InSystem collects content after the host's system text. Each load then
	// changes the beginning of the request.
	InSystem
)

// SummaryRule says what happens to loaded content whose message is missing
// from a request in which a summary replaces part of the history.
type SummaryRule uint8

const (
	// SummaryAuto attaches content whose message the summary removed and skips
	// content that no message of this conversation carried. The default.
	SummaryAuto SummaryRule = iota
	// SummaryAttach attaches all of it.
	SummaryAttach
	// SummarySkip attaches none of it.
	SummarySkip
)
