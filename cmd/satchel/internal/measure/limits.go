package measure

import "time"

// Bounds of a log of requests.
const (
	// maxLine is the longest line, in bytes: a request of some million tokens.
	maxLine = 64 << 20
	// maxText is how much text of different messages is kept of a log, in bytes. The tokens of a
	// text take about as much again.
	maxText = 256 << 20
	// maxReported is the largest number of tokens that is plausible for one request. No model reads
	// as many.
	maxReported = 1 << 30
)

// Bounds of what the demo prints, so that a model call fits some lines of a terminal.
const (
	// shownLines is how many lines of a text are printed.
	shownLines = 3
	// shownLine is the length of each, in characters.
	shownLine = 84
	// shownAnswer is the length of an answer of the model, in characters.
	shownAnswer = 70
)

// demoSteps is how many model calls a turn of the demo may take. The script needs three.
const demoSteps = 10

const (
	// evalMaxLoaded is how many skills may be loaded at a time in a trial. It is the default of chat.
	evalMaxLoaded = 8
	// evalErrors is how many different errors of conversations are printed.
	evalErrors = 5
	// evalPromptShown is how many characters of a query an error shows.
	evalPromptShown = 40
	// evalWordsShown is how many words say in the HTML report why a skill stands before another.
	evalWordsShown = 3
	// evalSniffed is how much of a file is read to find its type, in bytes.
	evalSniffed = 3 << 10
	// evalTrialTime is how long a conversation may take, so that an endpoint which does not answer
	// ends no run. The longest command alone may take 10 minutes.
	evalTrialTime = 30 * time.Minute
	// evalTraceSize is the size of a file of traces, in bytes.
	evalTraceSize = 64 << 20
	// evalRunName is the length of what names a process in the traces.
	evalRunName = 6
)

// Bounds of the reports of eval.
const (
	// maxBaseline is the largest report that is read, in bytes: a few thousand queries with all that
	// stands before them.
	maxBaseline = 64 << 20
	// evalColumns is the width of a report that no terminal shows.
	evalColumns = 80
	// evalNameColumns is how many columns of a name a report shows.
	evalNameColumns = 30
	// evalFirstSuite is how many queries of each kind eval init writes.
	evalFirstSuite = 3
	// evalPurpose is how many bytes of a description such a query repeats.
	evalPurpose = 120
)

// Bounds of cassettes.
const (
	// maxCassette is the largest cassette that is read, in bytes. It is decoded in memory.
	maxCassette = 256 << 20
	// maxResponse is the largest response that is recorded, in bytes.
	maxResponse = 64 << 20
	// minKey is the length from which on a key is looked for in texts, in bytes.
	minKey = 8
	// maxNearest is how many cassettes are compared with a request that was not recorded.
	maxNearest = 500
	// maxDiffLines is how many lines a difference has of each side.
	maxDiffLines = 20
	// maxDiffLine is the length of such a line, in bytes, and before how much of it stands before the
	// first difference.
	maxDiffLine, diffBefore = 200, 40
)
