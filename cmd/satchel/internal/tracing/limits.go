package tracing

import "time"

// Bounds of the server of a page.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	// maxHeader is the size of the header of a request, in bytes.
	maxHeader = 16 << 10
)

// Bounds of the text of a trace.
const (
	// pipedColumns is the width of output that is not for a terminal, and minColumns that of the
	// narrowest one.
	pipedColumns = 80
	minColumns   = 40
	// shownText is the length of a prompt, an answer or a command, in characters.
	shownText = 200
	// shownNames is how many skills of a list are named.
	shownNames = 12
	// minName is the least width of names in a table, and otherColumns that of its other columns.
	minName      = 12
	otherColumns = 64
)
