package tracelog

// Bounds of a trace.
const (
	// maxLine is the length of a line, in bytes. A longer line is skipped.
	maxLine = 64 << 20
	// maxText is how many bytes of different lines are kept. Their values take about as much again.
	maxText = 1 << 30
	// maxKeep is the largest plausible number of messages of a request.
	maxKeep = 1 << 20
	// maxLost is how many messages the calls of a trace may lack together. Further calls are skipped.
	maxLost = 1 << 20
	// maxNames is how many skills have a row of their own in a [Usage].
	maxNames = 200
	// bufferSize is the size of the buffer through which files are read, in bytes.
	bufferSize = 256 << 10
)
