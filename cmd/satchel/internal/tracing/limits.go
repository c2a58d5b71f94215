package tracing

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
