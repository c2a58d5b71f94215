package steps

import "github.com/satchel-go/satchel/processors"

// The causes of a [processors.PrefixBreak], which says what each of them means.
const (
	causeTurn     processors.Cause = "turn"
	causeUnload   processors.Cause = "unload"
	causeSystem   processors.Cause = "system"
	causeFallback processors.Cause = "fallback"
	causeOverview processors.Cause = "overview"
	causeTools    processors.Cause = "tools"
	causeHost     processors.Cause = "host"
	causeUnknown  processors.Cause = "unknown"
)
